# One line a plugin: NAME.la is made from NAME.c.
plugin_LTLIBRARIES += %D%/lorenz63.la
plugin_LTLIBRARIES += %D%/lorenz96.la
plugin_LTLIBRARIES += %D%/pcr3bp.la

# To be copied by authors of plugins.
dist_pkgdata_DATA = %D%/template.c
