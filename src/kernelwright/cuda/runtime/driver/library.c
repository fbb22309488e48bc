/* Libraries, which are modules, and their kernels, which are functions. */
#include "driver.h"

KW_API CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *options, void **values,
                                  unsigned int count, CUlibraryOption *library_options, void **library_values,
                                  unsigned int library_count)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    (void)options, (void)values, (void)count, (void)library_options, (void)library_values, (void)library_count;
    return kw_driver_done(kw_module_load((CUmodule *)library, image, 0));
}

KW_API CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *options, void **values,
                                      unsigned int count, CUlibraryOption *library_options, void **library_values,
                                      unsigned int library_count)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    (void)options, (void)values, (void)count, (void)library_options, (void)library_values, (void)library_count;
    return kw_driver_done(kw_module_load_file((CUmodule *)library, path));
}

KW_API CUresult cuLibraryUnload(CUlibrary library)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    return kw_driver_done(kw_module_unload((CUmodule)library));
}

KW_API CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    return kw_driver_done(kw_module_function((CUmodule)library, name, (CUfunction *)kernel));
}

KW_API CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    KW_DRIVER_ENTER();
    if (!module || !library)
        return kw_driver_done(module ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE);
    *module = (CUmodule)library;
    return kw_driver_done(0);
}

KW_API CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name)
{
    KW_DRIVER_ENTER();
    return kw_driver_done(kw_module_global((CUmodule)library, name, address, bytes));
}

KW_API CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    KW_DRIVER_ENTER();
    if (!function)
        return kw_driver_done(CUDA_ERROR_INVALID_VALUE);
    if (!kw_find_kernel(kernel))
        return kw_driver_done(CUDA_ERROR_INVALID_HANDLE);
    *function = (CUfunction)kernel;
    return kw_driver_done(0);
}

KW_API CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    int result = kw_check_device(device);
    return kw_driver_done(result ? result : kw_attribute_of_function(value, attribute, (CUfunction)kernel));
}

KW_API CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device)
{
    KW_DRIVER_ENTER_WITHOUT_CONTEXT();
    int result = kw_check_device(device);
    return kw_driver_done(result ? result
                                 : (int)cudaFuncSetAttribute(kernel, (enum cudaFuncAttribute)attribute, value));
}
