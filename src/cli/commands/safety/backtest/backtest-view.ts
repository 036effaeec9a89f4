import type { Backtest } from '../../../../app/backtest/backtest.ts'
import type { Sample } from '../../../../core/safety/differences.ts'
import { formatBytes, formatText } from '../../../terminal/format-value.ts'
import type { Layout } from '../../../terminal/table.ts'

export interface AboutBacktest {
  /** Null for all of them. */
  workflow: string | null
  /** Hash of the code that is tried; null where it is not known. */
  candidate: string | null
  /** `recorded`, `unfinished` for the journals of runs that go on, or the other code. */
  against: string
  /** Keys of groups that the authors want. */
  accepted: ReadonlySet<string>
}

/** A backtest in words, the same for a person and as Markdown. */
export interface Report {
  /** Such as `tidy: 3f9a1b2c against what 5,000 runs did`. */
  title: string
  rows: ReportRow[]
  /** Limits that would be exceeded, unsteady runs and refused calls, a line for each. */
  findings: string[]
}

export interface ReportRow {
  kind: 'same' | 'group' | 'unknown' | 'uncompared'
  /** With separators of thousands. */
  count: string
  texts: string[]
  /** The size of deleted files, and whether the group is accepted; may be empty. */
  remark: string
  samples: readonly Sample[]
}

/** Groups, and questions, that a report shows; `--json` has all of them. */
const SHOWN = 30

export function describeBacktest(found: Backtest, about: AboutBacktest): Report {
  return {
    title: describeSides(found, about),
    rows: [
      rowOf('same', found.same, [about.against === 'unfinished' ? 'go on with this code' : 'same']),
      ...found.groups.slice(0, SHOWN).map(({ key, count, changes, bytes, samples }) => {
        const texts = changes.length === 0 ? ['other differences'] : changes.map(({ text }) => formatText(text, 300))
        const size = bytes === 0 ? '' : `  (${formatBytes(bytes)})`
        const remark = `${size}${about.accepted.has(key) ? '  accepted' : ''}`
        return { ...rowOf('group', count, texts), remark, samples }
      }),
      ...listMore(found.groups.length, 'groups'),
      ...found.cannotSay.slice(0, SHOWN).map(({ count, question, samples }) => ({
        ...rowOf('unknown', count, [`cannot say  ${formatText(question, 200)}`]),
        samples,
      })),
      ...listMore(found.cannotSay.length, 'questions'),
      ...listUncompared(found).map(([count, what]) => rowOf('uncompared', count, [what])),
    ],
    findings: listFindings(found),
  }
}

/** A backtest for a person: its groups, largest first, then what nobody can say. */
export function formatBacktest(found: Backtest, about: AboutBacktest, { paint }: Layout): string[] {
  const { title, rows, findings } = describeBacktest(found, about)
  return [
    paint('bold', title),
    ...rows.flatMap(({ count, kind, texts, remark, samples }) => {
      const isPlain = kind === 'same' || kind === 'uncompared'
      const painted = texts.map((text) =>
        isPlain ? text : paint(text.startsWith('+ delete') ? 'red' : 'yellow', formatText(text, 200)),
      )
      const [first = '', ...rest] = painted
      return [`${count.padStart(10)}  ${first}${remark}`, ...[...rest, ...nameSample(samples)].map(indent)]
    }),
    ...(findings.length === 0 ? [] : ['', ...findings.map((line) => paint('yellow', line))]),
  ]
}

function rowOf(kind: ReportRow['kind'], count: number, texts: string[]): ReportRow {
  return { kind, count: formatNumber(count), texts, remark: '', samples: [] }
}

function listMore(count: number, what: string): ReportRow[] {
  return count <= SHOWN ? [] : [rowOf('uncompared', count - SHOWN, [`more ${what}: see --json`])]
}

function describeSides(found: Backtest, { workflow, candidate, against }: AboutBacktest): string {
  const code = candidate === null ? 'this code' : `code ${candidate.slice(0, 8)}`
  const runs = `${formatNumber(found.runs)} run${found.runs === 1 ? '' : 's'}`
  const name = workflow ?? 'all workflows'
  if (against === 'unfinished') return `${name}: would ${formatNumber(found.runs)} unfinished runs go on with ${code}?`
  if (against === 'recorded') return `${name}: ${code} against what ${runs} did`
  return `${name}: ${code} against ${formatText(against)}, on what ${runs} were given`
}

/** The counts of runs about which nothing was compared, in words. */
export function listUncompared({ noBody, notStarted, unfinished }: Backtest): [count: number, what: string][] {
  const all: [number, string][] = [
    [noBody, 'no body: retention has taken their event'],
    [notStarted, 'not started: a limit, a cancel or another run came first'],
    [unfinished, 'not finished yet'],
  ]
  return all.filter(([count]) => count > 0)
}

function listFindings({ guard, unsteady, refused }: Backtest): string[] {
  const [first] = unsteady
  return [
    ...guard.map(({ limit, most, times, largest }) => {
      const often = times === 1 ? 'once' : `${formatNumber(times)} times`
      const bound = `${limit} (${formatNumber(most)})`
      return `The guard: ${bound} would be exceeded ${often}, with up to ${formatNumber(largest)}.`
    }),
    ...(first ? [`Unsteady: two previews of ${unsteady.length} runs differ, such as ${first.run}.`] : []),
    ...refused.map(({ call, count }) => `Refused in ${formatNumber(count)} runs: ${formatText(call)}`),
  ]
}

function formatNumber(number: number): string {
  return number.toLocaleString('en-US')
}

function indent(line: string): string {
  return `${' '.repeat(12)}${line}`
}

/** None where nothing is named. */
function nameSample([first]: readonly Sample[]): string[] {
  if (first === undefined) return []
  const words = [first.run, first.event].filter((each) => each !== null)
  return [`such as ${words.join(' of ')}`]
}

function commandOf({ run, event }: Sample): string {
  return run === null ? `upshot events show ${event}` : `upshot runs show ${run}`
}

/** The commands that show the samples of a row, each with its event; ten at most. */
export function listSamples({ samples }: ReportRow): { command: string; event: string | null }[] {
  return samples.slice(0, 10).map((each) => ({ command: commandOf(each), event: each.event }))
}

/** The signs of differences, for a person who sees them the first time. */
export function explainSigns(side: 'run' | 'other code'): string {
  return `+ by this code only, - by the ${side} only, ~ by both in another way. Wanted so: --accept`
}
