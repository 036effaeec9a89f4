import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Command } from '@commander-js/extra-typings'
import { COVERAGE_ROUTES } from '../../../../admin/contract/resources/system/coverage.ts'
import type { AnswerOf } from '../../../../admin/contract/routes.ts'
import { UpshotError } from '../../../../core/errors.ts'
import type { Cli } from '../../../command.ts'
import { countUpTo } from '../../../input/parse-option.ts'
import { call } from '../../../open/operations.ts'
import { addSchemaOptions } from '../../../operate/schema-options.ts'
import { formatMoment } from '../../../terminal/format-value.ts'
import { showWork } from '../../../terminal/progress.ts'
import { type Column, formatTable, type Layout } from '../../../terminal/table.ts'

/** Exceptions that the table names one by one. */
const NAMED = 50

interface Line {
  what: string
  count: string
  how: string
}

const COLUMNS: Column<Line>[] = [
  { title: 'WHAT', value: ({ what }) => what, least: 24 },
  { title: 'COUNT', value: ({ count }) => count, align: 'right', cut: 'never' },
  { title: 'OF THEM', value: ({ how }) => how, most: 120 },
]

type Coverage = AnswerOf<'POST /coverage'>
type FileFinding = Coverage['findings'][number]

/** `upshot coverage`: files against events, runs and effects; exits with 7 where one was lost. */
export function define(command: Command, { out, project }: Cli): void {
  addSchemaOptions(command, COVERAGE_ROUTES['POST /coverage'].body, {
    without: ['wait', 'lookUp', 'transfers', 'reason'],
  })
  command
    .option('--transfers <file>', 'CSV file of transfers with a column "id", such as an export of the web interface')
    .option(
      '--look-up [count]',
      'ask the service for so many of the files that runs deleted; default: 20',
      countUpTo(1_000),
    )
    .option('--wait', 'first wait for the end of the sweeps that are under way')
    .action(({ transfers: file, lookUp = 0, ...given }) =>
      project.withOperations(async (operations) => {
        const transfers = file === undefined ? undefined : await readTransferIds(file)
        const body = { ...given, lookUp: lookUp === true ? 20 : lookUp, transfers }
        using work = showWork(out, given.wait ? 'Sweeping' : 'Comparing')
        const found = await call(operations, 'POST /coverage', { body }, work)
        out.result(found, () => formatCoverage(found, out))
        if (found.storages.length === 0)
          out.note('No storage was swept. Name one under "reconcile" in the project file, and start the app.')
        const { lookedUp, findings } = found
        const isBack = lookedUp !== null && lookedUp.there.length > 0
        const isUnreported = (found.transfers?.unreported.length ?? 0) > 0
        if (isBack || isUnreported || findings.some(isLoss)) out.leaveWith('difference')
        else if (isUnclear(found)) out.leaveWith('unknown')
      }),
    )
}

function formatCoverage(found: Coverage, layout: Layout): string[] {
  const named = found.findings.filter(({ state }) => state !== 'reported').slice(0, NAMED)
  const lines = [...storageLines(found), ...eventLines(found), ...transferLines(found.transfers)]
  return [
    ...formatTable(lines, COLUMNS, layout),
    ...(named.length === 0 ? [] : ['', ...formatTable(named, FINDING_COLUMNS, layout)]),
    ...(found.transfers?.unreported ?? []).slice(0, NAMED).map((id) => `✗ no event told of transfer ${id}`),
    ...found.runs.flatMap(({ workflow, failed }) => failed.map((run) => `✗ ${run} of ${workflow} failed`)),
    ...(found.lookedUp?.there ?? []).map((target) => `✗ ${target} was deleted, and the service has it`),
    '',
    'Not to be known:',
    ...found.unknowable.map((line) => `  ${line}`),
  ]
}

function isLoss({ state }: FileFinding): boolean {
  return state !== 'reported' && state !== 'unclear'
}

/**
 * True where an event may be lost, and nobody can tell. Nor can anybody where no definition says
 * which file its events are about.
 */
function isUnclear({ storages, findings, types }: Pick<Coverage, 'storages' | 'findings' | 'types'>): boolean {
  const ofFiles = types.filter(({ type }) => type.startsWith('file.'))
  if (ofFiles.every(({ unmatched }) => unmatched !== null)) return true
  const isWhole = ({ sweep: { baseline, ended } }: Coverage['storages'][number]) =>
    baseline !== null && ended?.fault === null
  return storages.length === 0 || !storages.every(isWhole) || findings.some(({ state }) => state === 'unclear')
}

function storageLines({ storages, findings }: Pick<Coverage, 'storages' | 'findings'>): Line[] {
  return storages.flatMap(({ account, storage, sweep, ...counts }) => {
    const ofStorage = findings.filter((each) => each.account === account && each.storage === storage)
    const place = account === 'default' ? storage : `${account}/${storage}`
    const count = (number: number) => number.toLocaleString('en')
    const part = (type: string, total: number, reported: number, rest = 'within grace') => {
      const own = ofStorage.filter((each) => each.type === type && each.state !== 'reported')
      const states = tally(own.map(({ state }) => (state === 'made' ? 'made up for' : state)))
      const open = Math.max(0, total - reported - own.length)
      return [`${count(reported)} told by ${type}`, ...states, ...(open > 0 ? [`${count(open)} ${rest}`] : [])].join(
        ', ',
      )
    }
    const { known, arrived, arrivedReported, gone, goneReported } = counts
    const howGone = part('file.deleted', gone, goneReported, 'our own, or within grace')
    return [
      { what: `files in ${place}`, count: count(known), how: describeSweep(sweep) },
      { what: '  new', count: count(arrived), how: part('file.created', arrived, arrivedReported) },
      { what: '  gone', count: count(gone), how: howGone },
    ]
  })
}

function describeSweep({ number, phase, ended, baseline }: Coverage['storages'][number]['sweep']): string {
  const work = phase === 'idle' ? '' : `, sweep ${number} is ${phase}`
  if (ended === null) return `no sweep has ended${work}`
  const last = ended.fault === null ? 'complete' : `not complete (${ended.fault})`
  const known = baseline === null ? '; no baseline yet, so nothing can be lost' : ''
  return `last sweep ended ${formatMoment(ended.at)}, ${last}${work}${known}`
}

function eventLines({ types, runs, deletes, lookedUp }: Coverage): Line[] {
  const count = (number: number) => number.toLocaleString('en')
  const outcomes = Object.entries(deletes.outcomes).map(([outcome, number]) => `${count(number)} ${outcome}`)
  const looked = lookedUp === null ? [] : [`${count(lookedUp.asked)} looked up: ${describeThere(lookedUp)}`]
  return [
    ...types.map(({ type, events, madeUp, unmatched }) => ({
      what: `events ${type}`,
      count: count(events),
      how: [...(madeUp === 0 ? [] : [`${count(madeUp)} made up`]), ...(unmatched === null ? [] : [unmatched])].join(
        '; ',
      ),
    })),
    ...runs.map(({ workflow, runs: total, statuses }) => ({
      what: `runs of ${workflow}`,
      count: count(total),
      how: Object.entries(statuses)
        .map(([status, number]) => `${count(number)} ${status}`)
        .join(', '),
    })),
    {
      what: 'deletes',
      count: count(deletes.begun),
      how: [outcomes.join(', '), ...looked].filter((part) => part !== '').join('; '),
    },
  ]
}

function describeThere({ there }: NonNullable<Coverage['lookedUp']>): string {
  return there.length === 0 ? 'none is there' : `${there.length.toLocaleString('en')} still there`
}

function transferLines(transfers: Coverage['transfers']): Line[] {
  if (transfers === null) return []
  const { listed, unreported } = transfers
  const how =
    unreported.length === 0 ? 'an event told of each' : `${unreported.length.toLocaleString('en')} without an event`
  return [{ what: 'transfers listed', count: listed.toLocaleString('en'), how }]
}

function tally(words: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts].map(([word, number]) => `${number.toLocaleString('en')} ${word}`)
}

const FINDING_COLUMNS: Column<FileFinding>[] = [
  { title: 'FILE', value: ({ file }) => file, isId: true },
  { title: 'PATH', value: ({ path }) => path, most: 50 },
  { title: 'NO EVENT', value: ({ type }) => type },
  { title: 'FOUND', value: ({ foundAt }) => formatMoment(foundAt), cut: 'never' },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'BECAUSE', value: describeEnd, most: 80 },
]

function describeEnd({ reason, event, lateEvent, approval, state }: FileFinding): string {
  const made = event === null ? [] : [`made up as ${event}`]
  const late = lateEvent === null ? [] : [`${lateEvent} came later`]
  const held = state === 'held' ? [`waits for ${approval}`] : []
  return [...(reason === null ? [] : [reason]), ...made, ...late, ...held].join('; ')
}

/** The ids of a CSV file with a column `id` in its first line. Throws `invalid_request`. */
async function readTransferIds(path: string): Promise<string[]> {
  const ids = new Set<string>()
  let column = -1
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })
  try {
    for await (const line of lines) {
      const cells = readCells(line.replace(/^\uFEFF/, ''))
      const id = cells[column]
      if (column === -1) column = requireColumn(cells, path)
      else if (id !== undefined && id !== '') ids.add(id)
    }
  } catch (error) {
    if (error instanceof UpshotError) throw error
    throw new UpshotError('invalid_request', `${path} cannot be read: ${(error as Error).message}.`)
  }
  return [...ids]
}

function requireColumn(cells: readonly string[], path: string): number {
  const column = cells.findIndex((cell) => /^(?:transfer[ _-]?)?id$/i.test(cell))
  if (column !== -1) return column
  throw new UpshotError('invalid_request', `${path} has no column "id" or "transfer_id" in its first line.`)
}

/** A cell may be in quotes, within which a doubled one is one. */
function readCells(line: string): string[] {
  // The comma before a line lets its first cell be empty.
  const cells = `,${line}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^,]*))/g)
  return [...cells].map(([, quoted, plain = '']) => (quoted?.replaceAll('""', '"') ?? plain).trim())
}
