# ringscope_add_plugin(NAME SOURCES ... [OUTPUT DIR]): a loadable algorithm plugin NAME.so that exports ringscope_entry and
# nothing else, with its conformance tests. Used by plugins elsewhere, through find_package(ringscope).
set(RINGSCOPE_PLUGIN_SYMBOLS ${CMAKE_CURRENT_LIST_DIR}/plugin.version)

function(ringscope_add_plugin name)
    ringscope_plugin_library(${name} ${ARGN})
    ringscope_conformance_tests(${name})
endfunction()

function(ringscope_plugin_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT" "SOURCES")
    if(NOT arg_OUTPUT)
        set(arg_OUTPUT ${CMAKE_BINARY_DIR}/plugins)
    endif()
    add_library(plugin_${name} MODULE ${arg_SOURCES})
    target_link_libraries(plugin_${name} PRIVATE ringscope::sdk)
    target_compile_features(plugin_${name} PRIVATE cxx_std_20)
    set_target_properties(plugin_${name} PROPERTIES
        PREFIX "" OUTPUT_NAME ${name}
        LIBRARY_OUTPUT_DIRECTORY ${arg_OUTPUT}
        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
        LINK_DEPENDS ${RINGSCOPE_PLUGIN_SYMBOLS})
    target_link_options(plugin_${name} PRIVATE
        -Wl,--version-script=${RINGSCOPE_PLUGIN_SYMBOLS} -Wl,-Bsymbolic)
endfunction()

# ringscope_conformance_tests(NAME): every algorithm of the plugin has to pass the gate: conform.NAME.paper, without ranks,
# and conform.NAME.ranks1 to ranks8, with so many threads as ranks. They exist where enable_testing() was called before.
function(ringscope_conformance_tests name)
    set(gate $<TARGET_FILE:ringscope::program> conform $<TARGET_FILE:plugin_${name}> --engine host-shm)
    add_test(NAME conform.${name}.paper COMMAND ${gate})
    set(tests conform.${name}.paper)
    foreach(ranks RANGE 1 8)
        add_test(NAME conform.${name}.ranks${ranks} COMMAND ${gate} --virtual-ranks ${ranks})
        list(APPEND tests conform.${name}.ranks${ranks})
    endforeach()
    set_tests_properties(${tests} PROPERTIES TIMEOUT 600 LABELS conform)
endfunction()
