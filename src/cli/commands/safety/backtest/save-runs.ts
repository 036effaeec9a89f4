import { statSync } from 'node:fs'
import type { Corpus } from '../../../../app/backtest/corpus/make-corpus.ts'
import { UpshotError } from '../../../../core/errors.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../command-clock.ts'
import { formatBytes } from '../../../terminal/format-value.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import { showProgress } from '../../../terminal/progress.ts'
import { openCodeOf, requireLoaded } from '../open-code.ts'
import type { BacktestOptions } from './backtest-options.ts'
import { chooseRuns } from './with-runs.ts'

/** Runs that are saved, spread over all, unless an option says how many. */
const MAX_RUNS = 1_000

export function saveRuns({ out, project }: Cli, workflow: string, options: BacktestOptions): Promise<void> {
  const { save: file = '', keep: kept = [], workflows, ...chosen } = options
  return project.withReads(async (store, config) => {
    const signal = onInterrupt()
    const { makeCorpus } = await import('../../../../app/backtest/corpus/make-corpus.ts')
    const { CORPUS_VERSION, writeCorpus } = await import('../../../../app/backtest/corpus/corpus-file.ts')
    await using isolated = await openCodeOf(out, workflow, { store, config, workflows })
    using progress = showProgress(out, { title: 'Runs read', total: null, unit: 'count' })
    const onRead = (count: number) => progress.set(count)
    const choice = chooseRuns(workflow, chosen)
    const bounded = choice.limit === undefined ? { sample: MAX_RUNS, ...choice } : choice
    const corpus = await makeCorpus(store, bounded, { isolated, kept, signal, onRead })
    progress.end()
    const { cases, ...counts } = corpus
    if (cases.length === 0) throw describeEmpty(workflow, corpus)
    const { codeHash, starts } = requireLoaded(isolated, workflow)
    const about = { workflow, codeHash, starts, savedAt: commandClock.now(), runs: cases.length }
    const isDry = out.given.dryRun
    const sha256 = isDry ? null : writeCorpus(file, { corpus: CORPUS_VERSION, ...about }, cases)
    const bytes = isDry ? null : statSync(file).size
    out.result({ file, workflow, runs: cases.length, ...counts, sha256, bytes, dryRun: isDry }, () => [
      `${file}: ${cases.length} runs of ${workflow}${bytes === null ? '' : `, ${formatBytes(bytes)}`}`,
      ...(sha256 === null ? [] : [`sha256 ${sha256}`]),
    ])
    if (counts.leftOut > 0) out.note(`${describeLeftOut(counts.leftOut)} ${KEEP}`)
  })
}

const KEEP = 'Name words that are no secret with --keep.'

function describeLeftOut(count: number): string {
  const runs = count === 1 ? '1 run is left out: its code decides' : `${count} runs are left out: their code decides`
  return `${runs} by words that were replaced, or composes keys of steps from them.`
}

function describeEmpty(workflow: string, { leftOut, noBody }: Corpus): UpshotError {
  if (leftOut > 0) return new UpshotError('conflict', describeLeftOut(leftOut), { fix: KEEP })
  const why = noBody > 0 ? ` with a body; ${noBody} have lost theirs by retention` : ''
  return new UpshotError('not_found', `There is no finished run of "${workflow}" since then${why}.`, {
    fix: 'Choose a longer time, such as --since 30d.',
  })
}
