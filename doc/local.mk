dist_doc_DATA = \
	%D%/accuracy.md \
	%D%/architecture.md \
	%D%/cluster.md \
	%D%/coming-from.md \
	%D%/cuda.md \
	%D%/frameworks.md \
	%D%/gbees-plugin.md \
	%D%/gbees-run.md \
	%D%/install.md \
	%D%/instants.md \
	%D%/tables.md \
	%D%/json.md \
	%D%/lagrangian.md \
	%D%/targets.md \
	%D%/measuring.md \
	%D%/method.md \
	%D%/models.md \
	%D%/moving.md \
	%D%/orbit.md \
	%D%/paper.md \
	%D%/performance.md \
	%D%/plot.md \
	%D%/plugins.md \
	%D%/python.md \
	%D%/results.md \
	%D%/scenario.md \
	%D%/tutorial.md \
	%D%/aizawa.png \
	%D%/elements.csv \
	%D%/elements.png \
	%D%/duffing.png \
	%D%/lorenz63.png \
	%D%/pendulum.png \
	%D%/vanderpol.png \
	%D%/cost.png \
	%D%/roofline.png \
	%D%/frames.csv \
	%D%/frames.png \
	%D%/moving.png \
	%D%/sampling.png \
	%D%/workerror.png

# Programs that use the library; tests/doc/test_examples.sh compiles and runs them.
examplesdir = $(docdir)/examples
dist_examples_DATA = \
	%D%/examples/README.md \
	%D%/examples/arriving.c \
	%D%/examples/propagate.c

# What was tried to make it faster.
notesdir = $(docdir)/notes
dist_notes_DATA = \
	%D%/notes/README.md \
	%D%/notes/accuracy-runs.md \
	%D%/notes/benchmark-results.md \
	%D%/notes/certificates.md \
	%D%/notes/compile-times.md \
	%D%/notes/cpu-sweeps.md \
	%D%/notes/ctu.md \
	%D%/notes/drift.md \
	%D%/notes/frame.md \
	%D%/notes/gpu-large-grids.md \
	%D%/notes/growth-prune.md \
	%D%/notes/forecast.md \
	%D%/notes/memory.md \
	%D%/notes/ranks.md \
	%D%/notes/schemes.md \
	%D%/notes/threads.md \
	%D%/notes/results-files.md

dist_man_MANS = \
	%D%/gbees-export.1 \
	%D%/gbees-plot.1 \
	%D%/gbees-plugin.1 \
	%D%/gbees-run.1

# The reference of the public headers: doc/reference/html in the build folder. A warning of doxygen is an error.
EXTRA_DIST += %D%/Doxyfile \
	%D%/packages/README.md \
	%D%/packages/deb \
	%D%/packages/debian/changelog \
	%D%/packages/debian/control \
	%D%/packages/debian/copyright \
	%D%/packages/debian/gbees.install \
	%D%/packages/debian/gbees.lintian-overrides \
	%D%/packages/debian/libgbees-dev.install \
	%D%/packages/debian/libgbees-dev.lintian-overrides \
	%D%/packages/debian/libgbees0.install \
	%D%/packages/debian/libgbees0.lintian-overrides \
	%D%/packages/debian/not-installed \
	%D%/packages/debian/rules \
	%D%/packages/debian/source/format \
	%D%/packages/debian/source/lintian-overrides
html-local: has-doxygen
	@$(MKDIR_P) %D%
	GBEES_TOP_SRC='$(abs_top_srcdir)' GBEES_VERSION='$(PACKAGE_VERSION)' $(DOXYGEN) $(srcdir)/%D%/Doxyfile
has-doxygen:
	@test -n "$(DOXYGEN)" || { echo "There is no doxygen (Debian: apt-get install doxygen):" \
		"install it, then run configure again" >&2; exit 1; }

# The site of the manual: site/index.html in the build folder. Sphinx reads the pages where they are, and docstrings from the
# package with this build's library. A link that leads nowhere is an error.
EXTRA_DIST += \
	%D%/site/conf.py \
	%D%/site/links.py \
	%D%/site/reference.rst
site: has-sphinx html-local core/python/session.la
	rm -rf site site-work
	GBEES_VERSION='$(PACKAGE_VERSION)' GBEES_PYTHON_MODULE='$(abs_top_builddir)/core/python/.libs/session.so' \
		PYTHONPATH='$(abs_top_srcdir)/core/python' PYTHONDONTWRITEBYTECODE=1 \
		$(SITE_PYTHON) -m sphinx -q -W --keep-going -d site-work -c $(srcdir)/%D%/site $(srcdir) site
	cp -R %D%/reference/html site/c
	cp site/README.html site/index.html
	$(SITE_PYTHON) $(srcdir)/%D%/site/links.py site
	rm -rf site-work
has-sphinx: has-doxygen
	@test "$(SITE_PYTHON)" != no || { echo "No python3 has all of Sphinx, myst-parser and NumPy (Debian:" \
		"apt-get install python3-sphinx python3-myst-parser python3-numpy; elsewhere: pip install sphinx myst-parser numpy):" \
		"install them, then run configure again" >&2; exit 1; }

clean-local: clean-reference
clean-reference:
	rm -rf %D%/reference site site-work
.PHONY: clean-reference has-doxygen has-sphinx site
