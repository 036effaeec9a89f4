import { statSync } from 'node:fs'
import type { Command } from '@commander-js/extra-typings'
import type { Corpus } from '../../../../app/backtest/corpus/make-corpus.ts'
import { UpshotError } from '../../../../core/errors.ts'
import type { Cli } from '../../../command.ts'
import { countUpTo, gather, parseSince } from '../../../input/parse-option.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { formatBytes } from '../../../terminal/format-value.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import { openCode, requireLoaded } from '../backtest/open-code.ts'

const WEEK_MS = 7 * 86_400_000
const MAX_RUNS = 1_000

/** `upshot corpus save <file>`: runs with other words, for backtests without the database. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<file>', 'the file to write, such as test/corpus/tidy.ndjson.gz')
    .requiredOption('--workflow <id>', 'id of the workflow')
    .option('--since <when>', 'only runs created since then, such as 30d (default: 7d)', parseSince)
    .option('--max <n>', 'so many runs at most, spread over all of them (default: 1000)', countUpTo(20_000))
    .option('--keep <words>', 'words that are no secret and stay as they are; may be repeated', gather)
    .action((file, { workflow, since: asked, max = MAX_RUNS, keep = [] }) =>
      project.withReads(async (store, config) => {
        const signal = onInterrupt()
        const since = asked?.(commandClock.now()) ?? commandClock.now() - WEEK_MS
        const { makeCorpus } = await import('../../../../app/backtest/corpus/make-corpus.ts')
        const { CORPUS_VERSION, writeCorpus } = await import('../../../../app/backtest/corpus/corpus-file.ts')
        const code = { store, config, workflow, workflows: undefined, readFiles: undefined }
        await using room = await openCode(out, code)
        const corpus = await makeCorpus(store, { workflow, since, sample: max }, { room, kept: keep, signal })
        const { cases, ...counts } = corpus
        if (cases.length === 0) throw describeEmpty(workflow, corpus)
        const { codeHash, starts } = requireLoaded(room, workflow)
        const about = { workflow, codeHash, starts, savedAt: commandClock.now(), runs: cases.length }
        const head = { corpus: CORPUS_VERSION, ...about }
        const isDry = out.given.dryRun
        const sha256 = isDry ? null : await writeCorpus(file, head, cases)
        const bytes = isDry ? null : statSync(file).size
        out.result({ file, workflow, runs: cases.length, ...counts, sha256, bytes, dryRun: isDry }, () => [
          `${file}: ${cases.length} runs of ${workflow}${bytes === null ? '' : `, ${formatBytes(bytes)}`}`,
          ...(sha256 === null ? [] : [`sha256 ${sha256}`]),
        ])
        if (counts.leftOut > 0) out.note(describeLeftOut(counts.leftOut))
      }),
    )
}

function describeLeftOut(count: number): string {
  const runs = count === 1 ? '1 run is left out: its code decides' : `${count} runs are left out: their code decides`
  return `${runs} by words that were replaced. Name words that are no secret with --keep.`
}

function describeEmpty(workflow: string, { leftOut, noBody }: Corpus): UpshotError {
  if (leftOut > 0) return new UpshotError('conflict', describeLeftOut(leftOut))
  const why = noBody > 0 ? ` with a body; ${noBody} have lost theirs by retention` : ''
  return new UpshotError('not_found', `There is no finished run of "${workflow}" since then${why}.`, {
    details: { fix: 'Choose a longer time, such as --since 30d.' },
  })
}
