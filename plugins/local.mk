# One line a plugin: NAME.la is made from NAME.c.
plugin_LTLIBRARIES += %D%/aizawa.la
plugin_LTLIBRARIES += %D%/conjunction.la
plugin_LTLIBRARIES += %D%/cr3bp.la
plugin_LTLIBRARIES += %D%/duffing.la
plugin_LTLIBRARIES += %D%/growth.la
plugin_LTLIBRARIES += %D%/linear.la
plugin_LTLIBRARIES += %D%/lorenz63.la
plugin_LTLIBRARIES += %D%/lorenz96.la
plugin_LTLIBRARIES += %D%/orbit.la
plugin_LTLIBRARIES += %D%/orbit_elements.la
plugin_LTLIBRARIES += %D%/pcr3bp.la
plugin_LTLIBRARIES += %D%/pendulum.la
plugin_LTLIBRARIES += %D%/phase.la
plugin_LTLIBRARIES += %D%/poe2bp.la
plugin_LTLIBRARIES += %D%/rossler.la
plugin_LTLIBRARIES += %D%/unicycle.la
plugin_LTLIBRARIES += %D%/vanderpol.la

# One file, compiled once with Cartesian states and once with elements.
plugins_orbit_la_SOURCES = %D%/orbit.c %D%/orbit_scenarios.h
plugins_orbit_elements_la_SOURCES = $(plugins_orbit_la_SOURCES)
plugins_orbit_elements_la_CPPFLAGS = $(AM_CPPFLAGS) -DORBIT_ELEMENTS
plugins_orbit_la_CFLAGS = $(AM_CFLAGS) $(PLUGIN_CFLAGS)
plugins_orbit_elements_la_CFLAGS = $(plugins_orbit_la_CFLAGS)

# To be copied by authors of plugins.
dist_pkgdata_DATA = %D%/template.c
