gbeesincludedir = $(includedir)/gbees
gbeesinclude_HEADERS = \
	%D%/gbees/audit.h \
	%D%/gbees/backend.h \
	%D%/gbees/checkpoint.h \
	%D%/gbees/error.h \
	%D%/gbees/gbees.h \
	%D%/gbees/model.h \
	%D%/gbees/model_build.h \
	%D%/gbees/model_drift.h \
	%D%/gbees/model_equations.h \
	%D%/gbees/model_framed.h \
	%D%/gbees/model_math.h \
	%D%/gbees/parallel.h \
	%D%/gbees/problem.h \
	%D%/gbees/record.h \
	%D%/gbees/refinement.h \
	%D%/gbees/remap.h \
	%D%/gbees/registry.h \
	%D%/gbees/results.h \
	%D%/gbees/rivals.h \
	%D%/gbees/scenario.h \
	%D%/gbees/solver.h \
	%D%/gbees/spread.h \
	%D%/gbees/stream.h \
	%D%/gbees/truth.h
