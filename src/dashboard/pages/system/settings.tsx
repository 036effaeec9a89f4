import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { urlOf } from '../../api/client.ts'
import { useApi } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Loaded } from '../../parts/messages.tsx'

type Setting = AnswerOf<'GET /config'>['items'][number]

const COLUMNS: readonly Column<Setting>[] = [
  { title: 'Setting', width: '40%', className: 'wide', cell: ({ setting }) => <code>{setting}</code> },
  { title: 'Value', className: 'wide', cell: ({ value }) => <code title={value}>{value}</code> },
]

/** The settings that the process runs with, without secrets. */
export function Settings() {
  const settings = useApi('GET /config', {}, { isStill: true })
  return (
    <div className="stack">
      <div className="row">
        <p className="quiet">What this process runs with. Secrets are not here.</p>
        <span className="push">
          <CopyAs cli="upshot config show --origins" url={urlOf('GET /config', {})} />
        </span>
      </div>
      <Loaded of={settings}>
        {({ items }) => <DataTable label="Settings" columns={COLUMNS} rows={items} keyOf={({ setting }) => setting} />}
      </Loaded>
    </div>
  )
}
