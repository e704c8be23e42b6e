gbeesincludedir = $(includedir)/gbees
gbeesinclude_HEADERS = \
	%D%/gbees/backend.h \
	%D%/gbees/error.h \
	%D%/gbees/gbees.h \
	%D%/gbees/model.h \
	%D%/gbees/model_build.h \
	%D%/gbees/model_equations.h \
	%D%/gbees/model_framed.h \
	%D%/gbees/problem.h \
	%D%/gbees/rivals.h
