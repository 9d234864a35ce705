# Modules that move or look at data. They alone are optimised in full: optimised code takes twice as long to compile, and the
# rest runs once per case. Sanitizer builds optimise the loops over data, and nothing else at all.
set(ringscope_hot verify schedule engine bench baseline mpi trace)
if(RINGSCOPE_SANITIZE)
    set(ringscope_hot verify engine)
endif()

# What such a module is compiled with (hot TRUE or FALSE), besides the flags of all. Loops begin at cache lines: LL on the host
# took 31 to 40 us for the same code, as its loops happened to lie.
function(ringscope_optimise target hot)
    target_link_libraries(${target} PRIVATE ringscope::flags)
    target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
    if(hot)
        target_compile_options(${target} PRIVATE
            $<$<CONFIG:RelWithDebInfo>:-O1>
            "$<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O3;-falign-loops=64;-falign-functions=64>")
    endif()
endfunction()

# The standard library's headers, compiled once: a third of the time that a module takes. The compiler wants them optimised as
# the module is, so there are two.
function(ringscope_headers name hot)
    add_library(${name} STATIC headers.cpp)
    ringscope_optimise(${name} ${hot})
    target_precompile_headers(${name} PRIVATE <algorithm> <array> <atomic> <cstdint> <filesystem> <functional> <iostream>
        <map> <memory> <numeric> <optional> <set> <span> <sstream> <string> <string_view> <vector>)
endfunction()

# ringscope_module(NAME SOURCES ... USES ... PRIVATE_USES ...): the static library of one folder under core/, as
# ringscope::NAME.
function(ringscope_module name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;PRIVATE_USES")
    if(arg_SOURCES)
        add_library(ringscope_${name} STATIC ${arg_SOURCES})
        target_include_directories(ringscope_${name} PUBLIC ${PROJECT_SOURCE_DIR}/core)
        target_link_libraries(ringscope_${name} PUBLIC ${arg_USES} PRIVATE ${arg_PRIVATE_USES})
        set(hot FALSE)
        set(headers plain_headers)
        if(name IN_LIST ringscope_hot)
            set(hot TRUE)
            set(headers hot_headers)
        endif()
        ringscope_optimise(ringscope_${name} ${hot})
        if(arg_SOURCES MATCHES "\\.cpp(;|$)")
            target_precompile_headers(ringscope_${name} REUSE_FROM ${headers})
        endif()
    else()
        add_library(ringscope_${name} INTERFACE)
        target_include_directories(ringscope_${name} INTERFACE ${PROJECT_SOURCE_DIR}/core)
        target_link_libraries(ringscope_${name} INTERFACE ${arg_USES})
    endif()
    add_library(ringscope::${name} ALIAS ringscope_${name})
endfunction()

# add_plugin(NAME SOURCES ... [OUTPUT DIR]): a plugin of this tree, with its warnings and sanitizers.
function(add_plugin name)
    ringscope_plugin_library(${name} ${ARGN})
    target_link_libraries(plugin_${name} PRIVATE ringscope::flags)
    if(NOT RINGSCOPE_SANITIZE)
        target_link_options(plugin_${name} PRIVATE -Wl,-z,defs)
    endif()
endfunction()
