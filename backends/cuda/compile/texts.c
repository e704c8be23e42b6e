/* texts.c - the list of the engine's texts, with their names in #include directives. A rule of the build makes the
 * arrays from the files of device/. */
#include "texts.h"
#include "base/embed.h"

/* Embeds a file as a NUL-terminated text; `path` is relative to the source tree, which the compiler's -I names. */
#define EMBED(symbol, path) GBEES_EMBED(gbees_cuda_##symbol, path)

/* An entry of the table below. */
#define NAMED(name, symbol)                                                                                          \
    {                                                                                                                \
        name, gbees_cuda_##symbol, gbees_cuda_##symbol##_end                                                         \
    }

/* A new file of the engine takes a line here, one in the table below, and one in local.mk. */
EMBED(engine, "backends/cuda/device/engine.cu")
EMBED(step_state, "backends/cuda/device/step_state.h")
EMBED(bound, "backends/cuda/device/bound.h")
EMBED(ends, "backends/cuda/device/ends.h")
EMBED(advance, "backends/cuda/device/advance.h")
EMBED(advect, "backends/cuda/device/advect.h")
EMBED(cells, "backends/cuda/device/cells.h")
EMBED(frame, "backends/cuda/device/frame.h")
EMBED(remap, "backends/cuda/device/remap.h")
EMBED(remapping, "backends/cuda/device/remapping.h")
EMBED(follow, "backends/cuda/device/follow.h")
EMBED(integrate, "backends/cuda/device/integrate.h")
EMBED(integration, "backends/cuda/device/integration.h")
EMBED(cuts, "backends/cuda/device/cuts.h")
EMBED(ctu, "backends/cuda/device/ctu.h")
EMBED(ctu_lines, "backends/cuda/device/ctu_lines.h")
EMBED(diffusion, "backends/cuda/device/diffusion.h")
EMBED(kernels, "backends/cuda/device/kernels.h")
EMBED(grow, "backends/cuda/device/grow.h")
EMBED(inspect, "backends/cuda/device/inspect.h")
EMBED(marginals, "backends/cuda/device/marginals.h")
EMBED(noise, "backends/cuda/device/noise.h")
EMBED(pencil, "backends/cuda/device/pencil.h")
EMBED(platform, "backends/cuda/device/platform.h")
EMBED(prune, "backends/cuda/device/prune.h")
EMBED(shrink, "backends/cuda/device/shrink.h")
EMBED(stop, "backends/cuda/device/stop.h")
EMBED(state, "backends/cuda/device/state.h")
EMBED(statistics, "backends/cuda/device/statistics.h")
EMBED(sweep, "backends/cuda/device/sweep.h")
EMBED(table, "backends/cuda/device/table.h")
EMBED(targets, "backends/cuda/device/targets.h")
EMBED(update, "backends/cuda/device/update.h")
EMBED(equations, "backends/cuda/device/equations.h")
EMBED(model, "backends/cuda/device/model.h")
EMBED(standard, "backends/cuda/device/standard.h")
EMBED(adaptive, "core/numerics/adaptive.h")
EMBED(brick, "core/numerics/brick.h")
EMBED(buzhash, "core/numerics/buzhash.h")
EMBED(numerics_ctu, "core/numerics/ctu.h")
EMBED(numerics_diffusion, "core/numerics/diffusion.h")
EMBED(dormand_prince, "core/numerics/dormand_prince.h")
EMBED(downwind, "core/numerics/downwind.h")
EMBED(fixed, "core/numerics/fixed.h")
EMBED(fused, "core/numerics/fused.h")
EMBED(ledger, "core/numerics/ledger.h")
EMBED(likelihood, "core/numerics/likelihood.h")
EMBED(neighbour, "core/numerics/neighbour.h")
EMBED(noise_factor, "core/numerics/noise_factor.h")
EMBED(periods, "core/numerics/periods.h")
EMBED(table_value, "core/numerics/table_value.h")
EMBED(philox, "core/numerics/philox.h")
EMBED(row, "core/numerics/row.h")
EMBED(sample_steps, "core/numerics/sample_steps.h")
EMBED(dither, "core/numerics/dither.h")
EMBED(run_state, "core/numerics/run_state.h")
EMBED(qualifier, "core/numerics/qualifier.h")
EMBED(ranks, "backends/cuda/device/ranks.h")
EMBED(split, "core/numerics/split.h")
EMBED(split7, "core/numerics/split7.h")
EMBED(split_cuts, "core/numerics/split_cuts.h")
EMBED(split_mass, "core/numerics/split_mass.h")
EMBED(split_noise, "core/numerics/split_noise.h")
EMBED(step, "core/numerics/step.h")
EMBED(sweeps, "core/numerics/sweeps.h")
EMBED(work, "core/numerics/work.h")
EMBED(contract_model, "include/gbees/model.h")
EMBED(contract_equations, "include/gbees/model_equations.h")
EMBED(contract_framed, "include/gbees/model_framed.h")

/* The texts by the names by which they are included. */
static const cuda_text table[] = {
    NAMED("engine.cu", engine),
    NAMED("device/step_state.h", step_state),
    NAMED("device/bound.h", bound),
    NAMED("device/ends.h", ends),
    NAMED("device/advance.h", advance),
    NAMED("device/advect.h", advect),
    NAMED("device/cells.h", cells),
    NAMED("device/frame.h", frame),
    NAMED("device/follow.h", follow),
    NAMED("device/integrate.h", integrate),
    NAMED("device/ctu.h", ctu),
    NAMED("device/cuts.h", cuts),
    NAMED("device/ctu_lines.h", ctu_lines),
    NAMED("device/diffusion.h", diffusion),
    NAMED("device/grow.h", grow),
    NAMED("device/inspect.h", inspect),
    NAMED("device/integration.h", integration),
    NAMED("device/kernels.h", kernels),
    NAMED("device/marginals.h", marginals),
    NAMED("device/noise.h", noise),
    NAMED("device/pencil.h", pencil),
    NAMED("device/platform.h", platform),
    NAMED("device/prune.h", prune),
    NAMED("device/ranks.h", ranks),
    NAMED("device/remap.h", remap),
    NAMED("device/remapping.h", remapping),
    NAMED("device/shrink.h", shrink),
    NAMED("device/state.h", state),
    NAMED("device/stop.h", stop),
    NAMED("device/statistics.h", statistics),
    NAMED("device/sweep.h", sweep),
    NAMED("device/table.h", table),
    NAMED("device/targets.h", targets),
    NAMED("device/update.h", update),
    NAMED("device/equations.h", equations),
    NAMED("device/model.h", model),
    NAMED("numerics/adaptive.h", adaptive),
    NAMED("numerics/brick.h", brick),
    NAMED("numerics/buzhash.h", buzhash),
    NAMED("numerics/ctu.h", numerics_ctu),
    NAMED("numerics/diffusion.h", numerics_diffusion),
    NAMED("numerics/dormand_prince.h", dormand_prince),
    NAMED("numerics/dither.h", dither),
    NAMED("numerics/downwind.h", downwind),
    NAMED("numerics/fixed.h", fixed),
    NAMED("numerics/fused.h", fused),
    NAMED("numerics/ledger.h", ledger),
    NAMED("numerics/likelihood.h", likelihood),
    NAMED("numerics/neighbour.h", neighbour),
    NAMED("numerics/noise_factor.h", noise_factor),
    NAMED("numerics/periods.h", periods),
    NAMED("numerics/table_value.h", table_value),
    NAMED("numerics/philox.h", philox),
    NAMED("numerics/row.h", row),
    NAMED("numerics/sample_steps.h", sample_steps),
    NAMED("numerics/run_state.h", run_state),
    NAMED("numerics/qualifier.h", qualifier),
    NAMED("numerics/split.h", split),
    NAMED("numerics/split7.h", split7),
    NAMED("numerics/split_cuts.h", split_cuts),
    NAMED("numerics/split_mass.h", split_mass),
    NAMED("numerics/split_noise.h", split_noise),
    NAMED("numerics/step.h", step),
    NAMED("numerics/sweeps.h", sweeps),
    NAMED("numerics/work.h", work),
    NAMED("gbees/model.h", contract_model),
    NAMED("gbees/model_equations.h", contract_equations),
    NAMED("gbees/model_framed.h", contract_framed),
    /* The names by which the headers of core/numerics include each other. */
    NAMED("brick.h", brick),
    NAMED("diffusion.h", numerics_diffusion),
    NAMED("dither.h", dither),
    NAMED("fused.h", fused),
    NAMED("ledger.h", ledger),
    NAMED("periods.h", periods),
    NAMED("philox.h", philox),
    NAMED("qualifier.h", qualifier),
    NAMED("step.h", step),
    NAMED("work.h", work),
    /* Headers that a model may include: NVRTC has none of them. */
    NAMED("float.h", standard),
    NAMED("limits.h", standard),
    NAMED("math.h", standard),
    NAMED("stddef.h", standard),
    NAMED("stdint.h", standard),
    NAMED("tgmath.h", standard),
};

_Static_assert(sizeof table / sizeof *table <= CUDA_TEXTS_MOST, "raise CUDA_TEXTS_MOST");

size_t cuda_texts(const cuda_text **texts)
{
    *texts = table;
    return sizeof table / sizeof *table;
}
