// SPDX-FileCopyrightText: The ringscope authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses the parts of MPI that ringscope uses and, called with a word, leaks 77 bytes of its own: the
// suppressions must hide Open MPI's leaks and not this one.
#include <mpi.h>
#include <stdlib.h>

static void use_mpi(void) {
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Barrier(node);
    MPI_Comm_free(&node);
}

static void leak(void) {
    void* volatile lost = malloc(77);
    lost = NULL;
    (void)lost;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    use_mpi();
    if (argc > 1) {
        leak();
    }
    MPI_Finalize();
    return 0;
}
