// The program of again_program.cu that also leaves an error of its own: again_error PASSES BLOCK [file [exit code]]
#define main run_again
#include "again_program.cu"
#undef main

int main(int argc, char **argv)
{
    int done = run_again(argc > 3 ? 3 : argc, argv);
    double error = 0.125;
    FILE *file = argc > 3 ? fopen(argv[3], "wb") : NULL;
    if (file != NULL) {
        fwrite(&error, sizeof error, 1, file);
        fclose(file);
    }
    fprintf(stdout, "the end\n");
    return argc > 4 ? atoi(argv[4]) : done;
}
