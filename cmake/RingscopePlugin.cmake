# ringscope_add_plugin(NAME SOURCES ... [OUTPUT DIR]): a loadable algorithm plugin NAME.so that exports ringscope_entry and
# nothing else. Used in this tree and by plugins elsewhere, through find_package(ringscope).
set(RINGSCOPE_PLUGIN_SYMBOLS ${CMAKE_CURRENT_LIST_DIR}/plugin.version)

function(ringscope_add_plugin name)
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
