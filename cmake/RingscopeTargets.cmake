# ringscope_module(NAME SOURCES ... USES ...): the static library of one folder under core/, as ringscope::NAME.
function(ringscope_module name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;PRIVATE_USES")
    if(arg_SOURCES)
        add_library(ringscope_${name} STATIC ${arg_SOURCES})
        target_include_directories(ringscope_${name} PUBLIC ${PROJECT_SOURCE_DIR}/core)
        target_link_libraries(ringscope_${name}
            PUBLIC ${arg_USES}
            PRIVATE ringscope::flags ${arg_PRIVATE_USES})
        target_compile_options(ringscope_${name} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
    else()
        add_library(ringscope_${name} INTERFACE)
        target_include_directories(ringscope_${name} INTERFACE ${PROJECT_SOURCE_DIR}/core)
        target_link_libraries(ringscope_${name} INTERFACE ${arg_USES})
    endif()
    add_library(ringscope::${name} ALIAS ringscope_${name})
endfunction()

# ringscope_hot(NAME ...): modules that move or look at data. They alone are optimised in full; sanitizer builds optimise
# nothing else at all. Optimised code takes twice as long to compile, and the rest runs once per case.
function(ringscope_hot)
    foreach(name ${ARGN})
        target_compile_options(ringscope_${name} PRIVATE
            $<$<CONFIG:RelWithDebInfo>:-O1> $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O3>)
    endforeach()
endfunction()

# add_plugin(NAME SOURCES ... [OUTPUT DIR]): a plugin of this tree, with its warnings and sanitizers.
function(add_plugin name)
    ringscope_plugin_library(${name} ${ARGN})
    target_link_libraries(plugin_${name} PRIVATE ringscope::flags)
    if(NOT RINGSCOPE_SANITIZE)
        target_link_options(plugin_${name} PRIVATE -Wl,-z,defs)
    endif()
endfunction()
