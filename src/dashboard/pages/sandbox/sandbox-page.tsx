import { useState } from 'react'
import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { urlOf } from '../../api/client.ts'
import { useApi } from '../../api/use-api.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { Empty, Loaded } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Facts } from '../../parts/text.tsx'
import { useMay, useSession } from '../../state/session.ts'
import { countOf, formatBytes, formatCount } from '../../words/format.ts'
import { hrefOf } from '../files/place.ts'
import { ClockCard } from './clock-card.tsx'
import { FaultCard } from './fault-card.tsx'
import { EventDialog, FileDialog, TransferDialog } from './make-dialogs.tsx'
import { SettingsCard } from './settings-card.tsx'
import { Transfers } from './transfers.tsx'

type Sandbox = AnswerOf<'GET /sandbox'>

/** The stand-in of the service: its clock, its faults, and what happens in it. */
export default function SandboxPage() {
  const { isSandbox } = useSession()
  const mayAct = useMay('operator')
  if (isSandbox && mayAct) return <Controls />
  return (
    <div className="stack">
      <PageHead title="Sandbox" />
      {isSandbox ? (
        <Empty title="The sandbox is for operators." />
      ) : (
        <Empty title="This app works with the real service.">
          <p>The sandbox stands in for it where the SERVICE_ variables are not set.</p>
        </Empty>
      )}
    </div>
  )
}

function Controls() {
  const sandbox = useApi('GET /sandbox', {})
  return (
    <div className="stack">
      <PageHead title="Sandbox">
        {sandbox.data?.url && (
          <a className="button" href={sandbox.data.url} target="_blank" rel="noreferrer">
            Account pages ↗
          </a>
        )}
        <CopyAs cli="upshot sandbox status" url={urlOf('GET /sandbox', {})} />
      </PageHead>
      <Loaded of={sandbox}>
        {(found) => (
          <>
            <Makers />
            <div className="columns">
              <ClockCard clock={found.clock} />
              <Stock sandbox={found} />
              <SettingsCard settings={found.settings} />
            </div>
            <FaultCard faults={found.faults} />
            <section className="stack" aria-label="Transfers">
              <h2>Transfers</h2>
              <Transfers transfers={found.transfers} />
            </section>
          </>
        )}
      </Loaded>
    </div>
  )
}

/** The acts of another user of the service: files, transfers and events. */
function Makers() {
  const [dialog, setDialog] = useState<'file' | 'transfer' | 'event' | null>(null)
  const close = () => setDialog(null)
  return (
    <div className="row">
      <button type="button" onClick={() => setDialog('file')}>
        Put a file…
      </button>
      <button type="button" onClick={() => setDialog('transfer')}>
        Transfer…
      </button>
      <button type="button" onClick={() => setDialog('event')}>
        Send an event…
      </button>
      {dialog === 'file' && <FileDialog onClose={close} />}
      {dialog === 'transfer' && <TransferDialog onClose={close} />}
      {dialog === 'event' && <EventDialog onClose={close} />}
    </div>
  )
}

function Stock({ sandbox: { storages, deliveries } }: { sandbox: Sandbox }) {
  return (
    <section className="card padded stack" aria-label="Storages">
      <h2>Storages</h2>
      <ul className="stack tight">
        {storages.map(({ name, files, bytes }) => (
          <li className="row" key={name}>
            <Link href={hrefOf({ account: 'default', storage: name, path: '/', file: '', beside: null })}>{name}</Link>
            <span className="quiet push">
              {countOf(files, 'file')}, {formatBytes(bytes)}
            </span>
          </li>
        ))}
      </ul>
      <Facts
        facts={[
          ['Delivered', formatCount(deliveries.delivered)],
          ['Under way', formatCount(deliveries.pending + deliveries.sending)],
          ['Given up', formatCount(deliveries.failed)],
        ]}
      />
    </section>
  )
}
