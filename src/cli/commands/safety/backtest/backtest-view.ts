import type { Backtest } from '../../../../app/backtest/backtest.ts'
import { formatBytes, formatText } from '../../../terminal/format-value.ts'
import type { Layout } from '../../../terminal/table.ts'

type Group = Backtest['groups'][number]
type Sample = Group['samples'][number]

/** The two sides of a backtest. */
export interface AboutBacktest {
  workflow: string
  /** Hash of the code that is tried; null where it is not known. */
  candidate: string | null
  /** `recorded`, or the other code. */
  against: string
  /** Keys of groups that the authors want. */
  accepted: ReadonlySet<string>
  /** Lines that belong to the head of a report. */
  lines: readonly string[]
}

/** Groups that a person is shown; `--json` has all of them. */
const SHOWN = 30

/** A backtest for a person: its groups, largest first, then what nobody can say. */
export function formatBacktest(found: Backtest, about: AboutBacktest, { paint }: Layout): string[] {
  const rows = [
    formatCount(found.same, 'same'),
    ...found.groups.slice(0, SHOWN).flatMap((group) => formatGroup(group, paint, about.accepted)),
    ...formatMore(found.groups.length, 'groups'),
    ...found.cannotSay
      .slice(0, SHOWN)
      .flatMap(({ question, count, samples }) => [
        formatCount(count, `${paint('yellow', 'cannot say')}  ${formatText(question, 200)}`),
        ...nameSample(samples),
      ]),
    ...formatMore(found.cannotSay.length, 'questions'),
    ...formatCounts(found),
  ]
  return [paint('bold', describeSides(found, about)), ...about.lines, ...rows, ...formatFindings(found, paint)]
}

/** One line about both sides, such as `tidy: 3f9a1b2c against what 5,000 runs did`. */
export function describeSides(found: Backtest, { workflow, candidate, against }: AboutBacktest): string {
  const code = candidate === null ? 'this code' : `code ${candidate.slice(0, 8)}`
  const runs = `${formatNumber(found.runs)} run${found.runs === 1 ? '' : 's'}`
  if (against === 'recorded') return `${workflow}: ${code} against what ${runs} did`
  return `${workflow}: ${code} against ${formatText(against)}, on what ${runs} were given`
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

/** Limits that would be exceeded, unsteady runs and refused calls, a line for each. */
export function listFindings({ guard, unsteady, refused }: Backtest): string[] {
  const [first] = unsteady
  return [
    ...guard.map(({ limit, most, times, largest }) => {
      const often = times === 1 ? 'once' : `${formatNumber(times)} times`
      const bound = `${limit} (${formatNumber(most)})`
      return `The guard: ${bound} would be exceeded ${often}, with up to ${formatNumber(largest)}.`
    }),
    ...(first ? [`Unsteady: two plays of ${unsteady.length} runs differ, such as ${first.run}.`] : []),
    ...refused.map(({ call, count }) => `Refused in ${formatNumber(count)} runs: ${formatText(call)}`),
  ]
}

export function formatNumber(number: number): string {
  return number.toLocaleString('en-US')
}

const INDENT = ' '.repeat(12)

function formatCount(count: number, text: string): string {
  return `${formatNumber(count).padStart(10)}  ${text}`
}

function formatGroup(
  { key, count, bytes, changes, samples }: Group,
  paint: Layout['paint'],
  accepted: ReadonlySet<string>,
): string[] {
  const lines = changes.length === 0 ? ['other differences'] : changes.map(({ text }) => formatText(text, 200))
  const size = `${bytes === 0 ? '' : `  (${formatBytes(bytes)})`}${accepted.has(key) ? '  accepted' : ''}`
  const [first = '', ...rest] = lines.map((line) => paint(line.startsWith('+ delete') ? 'red' : 'yellow', line))
  return [formatCount(count, `${first}${size}`), ...rest.map((line) => `${INDENT}${line}`), ...nameSample(samples)]
}

/** Indented; none where nothing is named. */
function nameSample([first]: readonly Sample[]): string[] {
  if (first === undefined) return []
  const words = [first.run, first.event].filter((each) => each !== null)
  return [`${INDENT}such as ${words.join(' of ')}`]
}

/** The command that shows a sample. */
export function commandOf({ run, event }: Sample): string {
  return run === null ? `upshot events show ${event}` : `upshot runs show ${run}`
}

function formatMore(count: number, what: string): string[] {
  return count <= SHOWN ? [] : [`${INDENT}and ${count - SHOWN} more ${what}: see --json`]
}

function formatCounts(found: Backtest): string[] {
  return listUncompared(found).map(([count, what]) => formatCount(count, what))
}

function formatFindings(found: Backtest, paint: Layout['paint']): string[] {
  const lines = listFindings(found)
  return lines.length === 0 ? [] : ['', ...lines.map((line) => paint('yellow', line))]
}

/** The signs of differences, for a person who sees them the first time. */
export function explainSigns(side: 'run' | 'other code'): string {
  return `+ by this code only, - by the ${side} only, ~ by both in another way. Wanted so: --accept`
}
