import { type FormEvent, useState } from 'react'
import { Link } from 'wouter'
import type { AnswerOf, InputOf } from '../../../admin/contract/routes.ts'
import { useAction, useApi } from '../../api/use-api.ts'
import { ActNow } from '../../parts/act.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Fields } from '../../parts/fields.tsx'
import { Empty, Loaded } from '../../parts/messages.tsx'
import { Card, PageHead } from '../../parts/page.tsx'
import { Facts, Path, Status, storyOf } from '../../parts/text.tsx'
import { Moment, useNow, When } from '../../parts/when.tsx'
import { useMay, useSession } from '../../state/session.ts'
import { useToasts } from '../../state/toasts.tsx'
import { countOf, formatBytes, formatCount, formatDuration } from '../../words/format.ts'
import { hrefOf } from '../files/place.ts'
import { FaultCard } from './fault-card.tsx'
import { Makers } from './makers.tsx'

type Sandbox = AnswerOf<'GET /sandbox'>
type Settings = InputOf<'PATCH /sandbox/settings'>['body']['settings']
type Transfer = Sandbox['transfers'][number]

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
        <CopyAs cli="upshot sandbox status" to="GET /sandbox" input={{}} />
      </PageHead>
      <Loaded of={sandbox}>
        {({ clock, settings, faults, transfers, ...stock }) => (
          <>
            <Makers />
            <div className="columns">
              <ClockCard clock={clock} />
              <Stock {...stock} />
              <SettingsCard settings={settings} />
            </div>
            <FaultCard faults={faults} />
            <Card title="Transfers" isPlain>
              {transfers.length === 0 ? (
                <Empty title="No transfer yet." />
              ) : (
                <DataTable label="Transfers" columns={TRANSFERS} rows={transfers} keyOf={({ id }) => id} />
              )}
            </Card>
          </>
        )}
      </Loaded>
    </div>
  )
}

function Stock({ storages, deliveries }: Pick<Sandbox, 'storages' | 'deliveries'>) {
  return (
    <Card title="Storages">
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
    </Card>
  )
}

/** A difference below this is the way of the answer. */
const SAME_MS = 5_000

/** The sandbox's own time, and the way forward. */
function ClockCard({ clock: { now, mode } }: Pick<Sandbox, 'clock'>) {
  const toast = useToasts()
  const advance = useAction('POST /sandbox/clock/advance')
  const [by, setBy] = useState('1h')
  const aheadMs = Date.parse(now) - useNow()
  const input = { body: { by } }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    advance.mutate(input, { onError: (error) => toast(error.message, true) })
  }
  const beside = <CopyAs cli={`upshot sandbox clock advance ${by}`} to="POST /sandbox/clock/advance" input={input} />
  return (
    <Card title="Clock" beside={beside}>
      <p>
        <Moment at={now} />
        <br />
        <span className="quiet">
          {mode === 'manual' ? 'It stands still' : 'It runs'}
          {aheadMs > SAME_MS && `, ${formatDuration(aheadMs)} ahead`}
        </span>
      </p>
      <form className="row" onSubmit={submit}>
        <span className="short">
          <input
            required
            aria-label="Advance the clock by"
            pattern="\d+(\.\d+)?(ms|s|m|h|d)"
            title="A duration such as 90s, 16m or 2h"
            value={by}
            onChange={(event) => setBy(event.target.value)}
          />
        </span>
        <button type="submit" disabled={advance.isPending}>
          Advance
        </button>
        <ActNow label="Real time" look="plain" to="POST /sandbox/clock/real" input={{ body: {} }} />
      </form>
    </Card>
  )
}

const PLANS = ['free', 'pro', 'enterprise', 'unlimited'] as const satisfies readonly Sandbox['settings']['plan'][]
const FORMS = ['primary', 'alternative', 'mixed'] as const satisfies readonly Sandbox['settings']['form'][]

/** The account's plan and the form of the service's answers. The command line has the others. */
function SettingsCard({ settings: { plan, form } }: Pick<Sandbox, 'settings'>) {
  const toast = useToasts()
  const change = useAction('PATCH /sandbox/settings')
  const texts = { plan, form }
  return (
    <section className="card padded stack form" aria-label="Account">
      <h2>Account</h2>
      <Fields
        fields={[
          { name: 'plan', label: 'Plan', hint: 'sets the rate limit', options: PLANS },
          { name: 'form', label: 'Form of answers', options: FORMS },
        ]}
        texts={texts}
        set={(settings) =>
          change.mutate(
            { body: { settings: settings as Settings } },
            { onError: (error) => toast(error.message, true) },
          )
        }
      />
      <p className="small quiet">
        Others: <code>upshot sandbox settings</code>
      </p>
    </section>
  )
}

const TRANSFERS: readonly Column<Transfer>[] = [
  { title: 'State', width: '120px', cell: (transfer) => <Status of={transfer} /> },
  {
    title: 'What',
    className: 'wide',
    cell: ({ id, from, to }) => (
      <Link href={storyOf(id)}>
        <Path text={`${from.storage}:${from.path} → ${to.storage}:${to.path}`} />
      </Link>
    ),
  },
  {
    title: 'Done',
    width: '170px',
    cell: ({ bytes, error }) => (
      <span className={error === null ? 'quiet' : ''} title={error ?? undefined}>
        {error ?? `${formatBytes(bytes.done)} of ${formatBytes(bytes.total)}`}
      </span>
    ),
  },
  { title: 'Begun', width: '92px', cell: ({ startedAt }) => <When at={startedAt} /> },
  {
    title: 'End it',
    width: '100px',
    cell: ({ id, finishedAt }) =>
      finishedAt === null && (
        <ActNow
          label="Cancel"
          look="plain"
          to="POST /sandbox/transfers/:id/cancel"
          input={{ params: { id }, body: {} }}
        />
      ),
  },
]
