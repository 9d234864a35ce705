# What `cmake --install` gives: the program, its plugins and configurations, and the SDK for plugins elsewhere.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/ringscope)

set_target_properties(ringscope PROPERTIES EXPORT_NAME program)
install(TARGETS ringscope EXPORT ringscopeTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_BINARY_DIR}/plugins/ DESTINATION lib/ringscope/plugins FILES_MATCHING PATTERN "*.so")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs DESTINATION ${CMAKE_INSTALL_DATADIR}/ringscope)
install(DIRECTORY core/abi/include/ core/sdk/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set_target_properties(ringscope_abi PROPERTIES EXPORT_NAME abi)
set_target_properties(ringscope_sdk PROPERTIES EXPORT_NAME sdk)
install(TARGETS ringscope_abi ringscope_sdk EXPORT ringscopeTargets)
install(EXPORT ringscopeTargets NAMESPACE ringscope:: DESTINATION ${package})
configure_package_config_file(cmake/ringscopeConfig.cmake.in ${PROJECT_BINARY_DIR}/ringscopeConfig.cmake
    INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ringscopeConfigVersion.cmake
    VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ringscopeConfig.cmake ${PROJECT_BINARY_DIR}/ringscopeConfigVersion.cmake
    cmake/RingscopePlugin.cmake cmake/plugin.version DESTINATION ${package})
