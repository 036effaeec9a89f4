import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { When } from '../../parts/when.tsx'
import { formatBytes } from '../../words/format.ts'

type Room = NonNullable<AnswerOf<'GET /system'>['room']>

type Week = Room['weeks'][number]

const WORDS: Record<Week['kind'], string> = {
  runs: 'Runs and their steps',
  deliveries: 'Rows of the delivery ledger',
  payloads: 'Bodies of events',
}

const WEEKS: readonly Column<Week>[] = [
  { title: 'By the week', className: 'wide', cell: ({ kind }) => WORDS[kind] },
  { title: 'Weeks kept', width: '110px', className: 'number', cell: ({ kept }) => kept },
  { title: 'Made until', width: '110px', cell: ({ until }) => <When at={until} /> },
  { title: 'Next to go', width: '110px', cell: ({ next }) => (next === null ? 'none' : <When at={next.from} />) },
  { title: 'Frees', width: '110px', className: 'number', cell: ({ next }) => next && formatBytes(next.bytes) },
  { title: 'Goes', width: '110px', cell: ({ next }) => next && describeEnd(next) },
]

const TABLES: readonly Column<Room['tables'][number]>[] = [
  { title: 'Table', className: 'wide', cell: ({ table }) => <span className="mono">{table}</span> },
  { title: 'Size', width: '110px', className: 'number', cell: ({ bytes }) => formatBytes(bytes) },
]

/** The room that tables and weeks take on a server. */
export function ServerRoom({ room: { weeks, tables } }: { room: Room }) {
  return (
    <>
      <DataTable label="Weeks" columns={WEEKS} rows={weeks} keyOf={({ kind }) => kind} />
      <DataTable label="Largest tables" columns={TABLES} rows={tables} keyOf={({ table }) => table} />
    </>
  )
}

function describeEnd({ goesAt }: NonNullable<Week['next']>) {
  return goesAt === null ? 'never' : <When at={goesAt} />
}
