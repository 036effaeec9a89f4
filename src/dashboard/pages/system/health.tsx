import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useAction, useApi } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Loaded, ProblemNote } from '../../parts/messages.tsx'
import { Card } from '../../parts/page.tsx'
import { Facts, Look } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useMay, useSession } from '../../state/session.ts'
import { formatBytes, formatCount } from '../../words/format.ts'
import { lookOfFinding } from '../../words/states.ts'

type System = AnswerOf<'GET /system'>
type Process = System['processes'][number]
type Room = NonNullable<System['room']>
type Week = Room['weeks'][number]
type Sweep = System['sweeps'][number]

const PROCESSES: readonly Column<Process>[] = [
  {
    title: 'State',
    width: '110px',
    cell: ({ isSilent }) => (
      <Look
        look={
          isSilent ? { state: 'failed', glyph: '✗', word: 'silent' } : { state: 'completed', glyph: '●', word: 'alive' }
        }
      />
    ),
  },
  { title: 'Role', width: '110px', cell: ({ role }) => role },
  { title: 'Process', width: '90px', className: 'number', cell: ({ pid }) => pid },
  { title: 'Version', width: '90px', cell: ({ version }) => version },
  { title: 'Admin', className: 'wide', cell: ({ adminUrl }) => <span className="mono">{adminUrl}</span> },
  { title: 'Started', width: '92px', cell: ({ startedAt }) => <When at={startedAt} /> },
  { title: 'Last seen', width: '92px', cell: ({ seenAt }) => <When at={seenAt} /> },
]

/** Checks, processes, and the room that is left. */
export function Health() {
  const system = useApi('GET /system', {})
  const session = useSession()
  return (
    <Loaded of={system}>
      {({ checks, processes, databaseBytes, logBytes, diskFreeBytes, room, sweeps }) => (
        <div className="stack">
          <section className="card padded stack">
            <Facts
              facts={[
                ['Database', formatBytes(databaseBytes)],
                room === null && ['Write-ahead log', formatBytes(logBytes)],
                [room === null ? 'Disk free' : 'Disk of this machine free', formatBytes(diskFreeBytes)],
                ['You are', `${session.name}, ${session.role}`],
              ]}
            />
            <ul className="row">
              <li>
                <code className="quiet">/readyz</code>
              </li>
              {Object.entries(checks).map(([name, verdict]) => (
                <li key={name} className="status" data-state={verdict === 'ok' ? 'completed' : 'failed'}>
                  {verdict === 'ok' ? '✓' : '✗'} {name}
                  {verdict !== 'ok' && `: ${verdict}`}
                </li>
              ))}
              {processes.flatMap(({ id, pid, broken }) =>
                broken.map(({ file, reason }) => (
                  <li key={`${id} ${file}`} className="status" data-state="failed">
                    ✗ process {pid} cannot load {file}: {reason}
                  </li>
                )),
              )}
            </ul>
          </section>
          <Doctor />
          <DataTable label="Processes" columns={PROCESSES} rows={processes} keyOf={({ id }) => id} />
          {sweeps.length > 0 && <DataTable label="Sweeps" columns={SWEEPS} rows={sweeps} keyOf={nameStorage} />}
          {room !== null && <ServerRoom room={room} />}
        </div>
      )}
    </Loaded>
  )
}

/** The checks of `upshot doctor`, asked for by a person: they call the service and the endpoints. */
function Doctor() {
  const mayAct = useMay('operator')
  const { data, error, isPending, mutate } = useAction('POST /doctor')
  if (!mayAct) return null
  const beside = (
    <button type="button" disabled={isPending} onClick={() => mutate({ body: {} })}>
      {data === undefined ? 'Examine' : 'Examine again'}
    </button>
  )
  return (
    <Card title="Doctor" beside={beside}>
      <p className="quiet">
        Checks the machine, the database, the endpoints and the service, as <code>upshot doctor</code> does.
      </p>
      {isPending && <p className="quiet">Examining…</p>}
      {error && <ProblemNote error={error} />}
      {data !== undefined && !isPending && (
        <div role="status">
          <ul className="pairs">
            {data.findings.map(({ check, level, found, fix }) => (
              <li key={`${check} ${found}`}>
                <Look look={lookOfFinding(level, check)} />
                <span className="wrap">
                  {found}
                  {fix !== null && <span className="quiet"> — {fix}</span>}
                </span>
              </li>
            ))}
          </ul>
        </div>
      )}
    </Card>
  )
}

const SWEEPS: readonly Column<Sweep>[] = [
  { title: 'Swept storage', className: 'wide', cell: nameStorage },
  { title: 'Now', width: '220px', cell: ({ underWay }) => (underWay === null ? 'idle' : <Present {...underWay} />) },
  { title: 'Complete', width: '92px', cell: ({ complete }) => (complete ? <When at={complete.endedAt} /> : 'not yet') },
  { title: 'Lost in 7 days', width: '110px', className: 'number', cell: ({ lost }) => lost },
  { title: 'Made up', width: '90px', className: 'number', cell: ({ made }) => made },
  { title: 'Waiting for people', width: '120px', className: 'number', cell: ({ held }) => held },
  { title: 'Why not complete', className: 'wide', cell: ({ fault }) => fault },
]

function nameStorage({ account, storage }: Sweep): string {
  return account === 'default' ? storage : `${account}/${storage}`
}

/** How far the sweep is that is at work. Files are judged one by one, and nobody counts them before. */
function Present({ phase, seen, total }: NonNullable<Sweep['underWay']>) {
  if (phase === 'judging') return 'judging'
  const far = `listing, ${formatCount(seen)}${total === null ? '' : ` of ${formatCount(total)}`}`
  return (
    <>
      {far} {total !== null && <progress max={Math.max(total, seen)} value={seen} aria-label={far} />}
    </>
  )
}

const WORDS: Record<Week['kind'], string> = {
  runs: 'Runs and their steps',
  deliveries: 'Rows of the delivery ledger',
  payloads: 'Bodies of events',
}

const WEEKS: readonly Column<Week>[] = [
  { title: 'By the week', className: 'wide', cell: ({ kind }) => WORDS[kind] },
  { title: 'Weeks kept', width: '110px', className: 'number', cell: ({ kept }) => kept },
  { title: 'Created until', width: '110px', cell: ({ until }) => <When at={until} /> },
  { title: 'Next to go', width: '110px', cell: ({ next }) => (next === null ? 'none' : <When at={next.from} />) },
  { title: 'Frees', width: '110px', className: 'number', cell: ({ next }) => next && formatBytes(next.bytes) },
  {
    title: 'Goes',
    width: '110px',
    cell: ({ next }) => next && (next.goesAt === null ? 'never' : <When at={next.goesAt} />),
  },
]

const TABLES: readonly Column<Room['tables'][number]>[] = [
  { title: 'Table', className: 'wide', cell: ({ table }) => <span className="mono">{table}</span> },
  { title: 'Size', width: '110px', className: 'number', cell: ({ bytes }) => formatBytes(bytes) },
]

function ServerRoom({ room: { weeks, tables } }: { room: Room }) {
  return (
    <>
      <DataTable label="Weeks" columns={WEEKS} rows={weeks} keyOf={({ kind }) => kind} />
      <DataTable label="Largest tables" columns={TABLES} rows={tables} keyOf={({ table }) => table} />
    </>
  )
}
