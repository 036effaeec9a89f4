import { useMemo } from 'react'
import { Link } from 'wouter'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Bones, Empty } from '../../parts/messages.tsx'
import { Path } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { type Approval, type ApprovalItem, nounOf } from '../../words/approvals.ts'
import { countOf, formatBytes, shortId } from '../../words/format.ts'

interface ItemsParts {
  approval: Approval
  items: readonly ApprovalItem[]
  isPending: boolean
  /**
   * Numbers that an approval leaves out, and the way to change one; absent: they cannot be chosen.
   */
  left?: ReadonlySet<number>
  toggle?: (number: number) => void
}

/**
 * The exact list of an approval, in its order. While it is open, what no run asks for any more is
 * left out.
 */
export function ApprovalItems({ approval: { kind, status }, items, isPending, left, toggle }: ItemsParts) {
  const selection = useMemo(() => {
    if (!left || !toggle) return undefined
    const keys = new Set(
      items.filter(({ number, state }) => state === 'open' && !left.has(number)).map(({ number }) => String(number)),
    )
    const nameOf = ({ path, target, number }: ApprovalItem) => path ?? target ?? `item ${number}`
    const fits = ({ state }: ApprovalItem) => state === 'open'
    return { keys, fits, toggle: (key: string) => toggle(Number(key)), nameOf }
  }, [items, left, toggle])
  const shown = items.filter(({ state }) => status !== 'open' || state !== 'withdrawn')
  if (shown.length === 0) return isPending ? <Bones /> : <Empty title="Its list is empty." />
  return (
    <>
      <DataTable
        label={kind === 'repair' ? 'Events that would be made up' : 'Effects that are asked for'}
        columns={kind === 'repair' ? REPAIR : COLUMNS}
        rows={shown}
        keyOf={({ number }) => String(number)}
        {...(selection ? { selection } : {})}
      />
      {kind !== 'repair' && shown.some(isUnknown) && (
        <p className="small quiet">
          The service gave no size or date of some files. Each is deleted if the rest of what you see fits.
        </p>
      )}
      {shown.some(({ isFolder }) => isFolder) && <p className="small quiet">A folder goes with everything in it.</p>}
      {shown.length < items.length && (
        <p className="small quiet">
          {countOf(items.length - shown.length, nounOf(kind))} of the list no run asks for any more; they are left out
          here.
        </p>
      )}
    </>
  )
}

/** True for a file of which a part is not known, so that nothing compares it. */
function isUnknown({ path, bytes, modifiedAt, isFolder }: ApprovalItem): boolean {
  return path !== null && !isFolder && (bytes === null || modifiedAt === null)
}

/** A file by its path; a write by what its author says it is made of. */
function nameItem({ path, input, target }: ApprovalItem): string | null {
  return path ?? (input === null ? target : JSON.stringify(input))
}

const NUMBER: Column<ApprovalItem> = {
  title: '#',
  width: '56px',
  className: 'number',
  cell: ({ number }) => <span className="quiet">{number}</span>,
}
const STATE: Column<ApprovalItem> = {
  title: 'State',
  width: '100px',
  cell: ({ state }) => <span className="quiet">{state}</span>,
}

/** A repair has no runs: its items are events, by type. */
const REPAIR: readonly Column<ApprovalItem>[] = [
  NUMBER,
  { title: 'Event', width: '120px', cell: ({ step }) => <span className="mono">{step}</span> },
  { title: 'Path', className: 'wide', cell: ({ path, target }) => <Path text={path ?? target} /> },
  { title: 'File', width: '24%', className: 'spare', cell: ({ target }) => <span className="mono">{target}</span> },
  STATE,
]

const COLUMNS: readonly Column<ApprovalItem>[] = [
  NUMBER,
  { title: 'File', className: 'wide', cell: (item) => <Path text={nameItem(item)} /> },
  {
    title: 'Size',
    width: '84px',
    className: 'number',
    cell: ({ bytes, isFolder }) => (isFolder ? 'folder' : bytes === null ? 'unknown' : formatBytes(bytes)),
  },
  {
    title: 'Changed',
    width: '92px',
    className: 'spare',
    cell: ({ modifiedAt }) => <When at={modifiedAt} />,
  },
  { title: 'Target', width: '20%', className: 'spare', cell: ({ target }) => <span className="mono">{target}</span> },
  {
    title: 'Run',
    width: '110px',
    cell: ({ runId }) => (
      <Link className="mono" href={`/runs/${runId}`}>
        {shortId(runId)}
      </Link>
    ),
  },
  STATE,
]
