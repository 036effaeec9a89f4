import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { type Command, Option } from '@commander-js/extra-typings'
import { acceptedFile, readAccepted } from '../../../../app/backtest/accepted-keys.ts'
import type { LineReport } from '../../../../app/backtest/changed-lines.ts'
import type { OtherCode } from '../../../../app/backtest/check-out.ts'
import type { PlayRules } from '../../../../app/play/play-job.ts'
import type { Room } from '../../../../app/play/room.ts'
import { UpshotError } from '../../../../core/errors.ts'
import { isPlainObject, type JsonValue } from '../../../../core/json.ts'
import type { Group } from '../../../../core/safety/difference.ts'
import type { Cli } from '../../../command.ts'
import { countUpTo, gather, parseSince } from '../../../input/parse-option.ts'
import { onInterrupt } from '../../../terminal/on-interrupt.ts'
import { showProgress } from '../../../terminal/progress.ts'
import { openLiveReads } from '../open-live-reads.ts'
import { formatBacktest } from './backtest-view.ts'
import { FAIL_ON, parseShare, REQUIRE } from './judge-backtest.ts'
import { type Candidate, openCandidate } from './open-candidate.ts'
import { openCode, requireLoaded } from './open-code.ts'
import { reportDifferences } from './report-differences.ts'
import { type Runs, withRuns } from './with-runs.ts'

/** `upshot backtest <workflow>`: what its code would do otherwise than recorded runs did. */
export function define(command: Command, { out, project }: Cli): void {
  addOptions(command).action((workflow, { outputs = false, ...options }) => {
    // Before anything is loaded: a person sees at once that it has begun.
    out.note(`Playing ${options.corpus === undefined ? 'recorded runs' : 'a corpus'} of ${workflow} …`)
    return withRuns(
      project,
      { corpus: undefined, ...options, workflow, outputs },
      async ({ store, config, pages, ...runs }) => {
        const { reads, fixtures, rerun = [], workflows, against, accept, markdown, html, ...more } = options
        const { failOn, require, corpus, code: tried, trustReads: trustsReads = config.trustsReads ?? false } = more
        const fixed = fixtures === undefined ? {} : readFixtures(fixtures)
        const rules: PlayRules = { readsLive: reads === 'live', rerun, fixtures: fixed }
        // A working tree of git is left behind by a process that just ends.
        const signal = onInterrupt()
        const { backtest } = await import('../../../../app/backtest/backtest.ts')
        await using live = rules.readsLive ? await openLiveReads(config) : null
        const code = { store, config, workflow, trustsReads, readFiles: live?.readFiles }
        const wanted = { ...code, workflows, notesLines: against !== undefined }
        await using candidate = await openCandidate(out, { ...wanted, code: tried, against })
        const { room, dir, hash } = candidate
        await using other = against === undefined ? null : await openOther(against, dir)
        await using base = other && (await openCode(out, { ...code, workflows: other.workflowsDir }))
        using progress = showProgress(out, { title: 'Runs played', total: null, unit: 'count' })
        const found = await backtest(pages, {
          ...{ workflow, room, against: base, rules, withOutputs: outputs || base !== null },
          findStarts: (known) => findStarts(runs, { workflow, room, base, known }),
          signal,
          onPlayed: (count) => progress.set(count),
        })
        progress.end()
        const lines = other && (await readLines(candidate, other))
        const file = acceptedFile(dir, workflow, corpus)
        const accepted = readAccepted(file)
        const about = {
          workflow,
          candidate: hash,
          against: against ?? 'recorded',
          accepted,
          lines: describeLines(lines),
        }
        // Those of a corpus are in its file alone.
        const hasRuns =
          found.runs > 0 || corpus !== undefined || (await store.listRuns({ workflow, limit: 1 })).length > 0
        const { changed: linesChanged = null, ran: linesRan = null, notReached = [] } = lines ?? {}
        const data = {
          ...{ workflow, candidate: hash, against: about.against, ...found, isNew: !hasRuns },
          ...{ linesChanged, linesRan, notReached, accepted: [...accepted] },
        }
        out.result(data, () => formatBacktest(found, about, out))
        const isThrottled = live?.isThrottled() ?? false
        const rule = { failOn, required: require, isThrottled, unknown: hasRuns ? null : workflow }
        reportDifferences(out, found, { about, file, asked: { accept, markdown, html }, rule })
      },
    )
  })
}

/** The differences in what starts runs, from the other code or from what production has now. */
async function findStarts(
  { starts, compareStarts }: Pick<Runs, 'starts' | 'compareStarts'>,
  { workflow, room, base, known }: { workflow: string; room: Room; base: Room | null; known: readonly Group[] },
): Promise<Group[]> {
  const was = base === null ? starts : requireLoaded(base, workflow).starts
  return was === null ? [] : compareStarts({ was, is: requireLoaded(room, workflow).starts, known })
}

function addOptions(command: Command) {
  return command
    .argument('<workflow>', 'id of the workflow')
    .option('--since <when>', 'only runs created since then, such as 30d (default: 7d)', parseSince)
    .option('--until <when>', 'only runs created before then', parseSince)
    .option('--corpus <file>', 'play the runs of this corpus, without a database')
    .option('--type <type>', 'only runs of events of this type')
    .option('--account <name>', 'only runs of this account')
    .option('--sample <n>', 'so many runs, spread over all of them', countUpTo(100_000))
    .option('--limit <n>', 'the newest so many runs', countUpTo(100_000_000))
    .option('--workflows <folder>', 'the folder of the code (default: that of the project)')
    .option('--code <module>', 'the code of this module alone, such as workflows/tidy.shadow.ts')
    .option('--against <code>', 'compare with this code on the same answers: a commit, a module or a folder')
    .option('--outputs', 'compare the results of runs as well')
    .addOption(
      new Option('--reads <where>', 'where no run has recorded a read: the play ends, or the service is asked')
        .choices(['recorded', 'live'] as const)
        .default('recorded' as const),
    )
    .option(
      '--trust-reads',
      'let steps with effect "read" that are called send anything, such as a POST that only asks',
    )
    .option('--fixtures <file>', 'JSON with the results of steps that no run has recorded, by name or key')
    .option('--rerun <step>', 'call the function of this reading step again; may be repeated', gather)
    .addOption(new Option('--fail-on <what>', 'differences that exit with 7').choices(FAIL_ON).default('any' as const))
    .option('--require <share>', REQUIRE, parseShare, 1)
    .option(
      '--accept',
      'keep these differences in workflows/backtest/<workflow>.json or beside the corpus, and fail on others only',
    )
    .option('--markdown <file>', 'also write a report for a comment on a pull request')
    .option('--html <file>', 'also write a report as one page without script')
}

async function openOther(against: string, workflowsDir: string): Promise<OtherCode> {
  const { checkOut } = await import('../../../../app/backtest/check-out.ts')
  return checkOut(against, workflowsDir)
}

/** The changed lines of the code that is tried, with those that ran. */
async function readLines({ room, dir, module }: Candidate, other: OtherCode): Promise<LineReport> {
  const { reportLines } = await import('../../../../app/backtest/changed-lines.ts')
  return reportLines(await other.listChanged(module), await room.readLines(), {
    read: (file) => readFileSync(file, 'utf8'),
    nameOf: (file) => relative(dir, file),
  })
}

/** Lines that the summary names; the rest is in `--json`. */
const NAMED = 10

function describeLines(lines: LineReport | null): string[] {
  if (lines === null || lines.changed === 0) return []
  const { changed, ran, notReached } = lines
  const head = `${ran} of ${changed} changed lines ran`
  if (notReached.length === 0) return [`${head}.`]
  const more = notReached.length > NAMED ? `, and ${notReached.length - NAMED} more` : ''
  return [`${head}; reached by no run: ${notReached.slice(0, NAMED).join(', ')}${more}.`]
}

function readFixtures(file: string): Record<string, JsonValue> {
  try {
    const found: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (isPlainObject(found)) return found as Record<string, JsonValue>
    throw new Error('it is no object')
  } catch (error) {
    const why = (error as Error).message
    throw new UpshotError('invalid_request', `${file} cannot be read as results of steps: ${why}.`, {
      details: { fix: 'Write a JSON object: { "name of the step": its result }.' },
    })
  }
}
