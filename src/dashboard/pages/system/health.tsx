import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Loaded } from '../../parts/messages.tsx'
import { Facts } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useSession } from '../../state/session.ts'
import { formatBytes } from '../../words/format.ts'
import { Doctor } from './doctor.tsx'
import { ServerRoom } from './server-room.tsx'

type Process = AnswerOf<'GET /system'>['processes'][number]

const COLUMNS: readonly Column<Process>[] = [
  {
    title: 'State',
    width: '110px',
    cell: ({ isSilent }) => (
      <span className="status" data-state={isSilent ? 'failed' : 'completed'}>
        <span aria-hidden="true">{isSilent ? '✗' : '●'}</span>
        {isSilent ? 'silent' : 'alive'}
      </span>
    ),
  },
  { title: 'Role', width: '110px', cell: ({ role }) => role },
  { title: 'Process', width: '90px', className: 'number', cell: ({ pid }) => pid },
  { title: 'Version', width: '90px', cell: ({ version }) => version },
  { title: 'Admin', className: 'wide', cell: ({ adminUrl }) => <span className="mono">{adminUrl}</span> },
  { title: 'Started', width: '92px', cell: ({ startedAt }) => <When at={startedAt} /> },
  { title: 'Seen', width: '92px', cell: ({ seenAt }) => <When at={seenAt} /> },
]

/** Checks, processes, and the room that is left. */
export function Health() {
  const system = useApi('GET /system', {})
  const session = useSession()
  return (
    <Loaded of={system}>
      {({ checks, processes, databaseBytes, logBytes, diskFreeBytes, room }) => (
        <div className="stack">
          <section className="card padded stack">
            <Facts
              facts={[
                ['Database', formatBytes(databaseBytes)],
                room === null ? ['Log', formatBytes(logBytes)] : null,
                [room === null ? 'Disk free' : 'Disk of this machine free', formatBytes(diskFreeBytes)],
                ['You are', `${session.name}, ${session.role}`],
              ]}
            />
            <ul className="row">
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
          <DataTable label="Processes" columns={COLUMNS} rows={processes} keyOf={({ id }) => id} />
          {room !== null && <ServerRoom room={room} />}
        </div>
      )}
    </Loaded>
  )
}
