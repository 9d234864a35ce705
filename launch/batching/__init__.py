# SPDX-FileCopyrightText: The ringscope authors
# SPDX-License-Identifier: Apache-2.0
"""Batches: many experiments, many launches of each, one result folder. Needs the standard library alone."""
