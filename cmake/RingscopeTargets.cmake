# ringscope_module(NAME SOURCES ... USES ...): the static library of one folder under core/, as ringscope::NAME.
function(ringscope_module name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;PRIVATE_USES")
    if(arg_SOURCES)
        add_library(ringscope_${name} STATIC ${arg_SOURCES})
        target_include_directories(ringscope_${name} PUBLIC ${PROJECT_SOURCE_DIR}/core)
        target_link_libraries(ringscope_${name}
            PUBLIC ${arg_USES}
            PRIVATE ringscope::flags ${arg_PRIVATE_USES})
    else()
        add_library(ringscope_${name} INTERFACE)
        target_include_directories(ringscope_${name} INTERFACE ${PROJECT_SOURCE_DIR}/core)
        target_link_libraries(ringscope_${name} INTERFACE ${arg_USES})
    endif()
    add_library(ringscope::${name} ALIAS ringscope_${name})
endfunction()

# add_plugin(NAME SOURCES ... [OUTPUT DIR]): a loadable algorithm plugin that exports ringscope_entry and nothing else.
function(add_plugin name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT" "SOURCES")
    if(NOT arg_OUTPUT)
        set(arg_OUTPUT ${PROJECT_BINARY_DIR}/plugins)
    endif()
    add_library(plugin_${name} MODULE ${arg_SOURCES})
    target_link_libraries(plugin_${name} PRIVATE ringscope::sdk ringscope::flags)
    set_target_properties(plugin_${name} PROPERTIES
        PREFIX "" OUTPUT_NAME ${name}
        LIBRARY_OUTPUT_DIRECTORY ${arg_OUTPUT}
        C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
        LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/plugin.version)
    target_link_options(plugin_${name} PRIVATE
        -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/plugin.version -Wl,-Bsymbolic)
    if(NOT RINGSCOPE_SANITIZE)
        target_link_options(plugin_${name} PRIVATE -Wl,-z,defs)
    endif()
endfunction()
