// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0

/// Nothing of its own: it stands for the headers that are compiled once for all modules.
