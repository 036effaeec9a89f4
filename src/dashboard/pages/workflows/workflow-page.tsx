import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { call, urlOf } from '../../api/client.ts'
import { useAction, useApi, useList } from '../../api/use-api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { List } from '../../parts/list.tsx'
import { Empty, LoadedPage } from '../../parts/messages.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { RunTable } from '../../parts/run-table.tsx'
import { Facts } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { countOf } from '../../words/format.ts'
import { triggerOf, type Workflow } from '../../words/trigger.ts'
import { TryEvent } from './event-matches.tsx'

/** One workflow: what starts it, whether it is paused, and its newest runs. */
export default function WorkflowPage({ id }: { id: string }) {
  const workflow = useApi('GET /workflows/:id', { params: { id } })
  const runs = useList('GET /runs', { query: { workflow: id } })
  const mayAct = useMay('operator')
  return (
    <LoadedPage of={workflow} title={id}>
      {(found) => (
        <div className="stack">
          <div>
            <p className="crumbs">
              <Link href="/workflows">Workflows</Link>
            </p>
            <PageHead title={found.id} beside={<Paused workflow={found} />}>
              {mayAct && <Actions workflow={found} />}
              <CopyAs cli={`upshot workflows show ${id}`} url={urlOf('GET /workflows/:id', { params: { id } })} />
            </PageHead>
            <Facts
              facts={[
                ['Starts on', triggerOf(found)],
                ['File', <code key="file">{found.file}</code>],
                found.priority === 0 ? null : ['Priority', found.priority],
                ['Loaded', <When key="loaded" at={found.loadedAt} />],
              ]}
            />
          </div>
          {found.eventTypes.length > 0 && <TryEvent workflow={found.id} type={found.eventTypes[0]} />}
          <List of={runs} empty={<Empty title="It has no run yet." />}>
            {(items) => <RunTable runs={items} />}
          </List>
        </div>
      )}
    </LoadedPage>
  )
}

function Paused({ workflow: { pausedAt, held } }: { workflow: Workflow }) {
  if (pausedAt === null) return null
  return (
    <span className="status" data-state="waiting">
      ⏸ paused <When at={pausedAt} />, {countOf(held, 'run')} held
    </span>
  )
}

function Actions({ workflow }: { workflow: Workflow }) {
  const [dialog, setDialog] = useState<'pause' | 'start' | null>(null)
  const pause = useAction('POST /workflows/:id/pause')
  const resume = useAction('POST /workflows/:id/resume')
  const params = { id: workflow.id }
  const isPaused = workflow.pausedAt !== null
  const isCallable = workflow.schedule === null && workflow.eventTypes.length === 0
  return (
    <>
      {isCallable && (
        <button type="button" onClick={() => setDialog('start')}>
          Start…
        </button>
      )}
      <button type="button" onClick={() => setDialog('pause')}>
        {isPaused ? 'Resume…' : 'Pause…'}
      </button>
      {dialog === 'pause' && (
        <Confirm
          title={`${isPaused ? 'Resume' : 'Pause'} ${workflow.id}?`}
          action={isPaused ? 'Resume' : 'Pause'}
          onClose={() => setDialog(null)}
          perform={(reason) => (isPaused ? resume : pause).mutateAsync({ params, body: { reason } })}
        >
          <p>
            {isPaused
              ? `Its ${countOf(workflow.held, 'held run')} go on, oldest first.`
              : 'Its runs are held. Events and ticks are still stored, and nothing is lost.'}
          </p>
        </Confirm>
      )}
      {dialog === 'start' && <StartDialog workflow={workflow} onClose={() => setDialog(null)} />}
    </>
  )
}

function StartDialog({ workflow, onClose }: { workflow: Workflow; onClose: () => void }) {
  const [input, setInput] = useState('{}')
  const [, go] = useLocation()
  const start = async (reason: string | undefined) => {
    const params = { id: workflow.id }
    const run = await call('POST /workflows/:id/start', { params, body: { input: JSON.parse(input), reason } })
    go(`/runs/${run.id}`)
  }
  return (
    <Confirm title={`Start ${workflow.id}`} action="Start a run" onClose={onClose} perform={start}>
      <label>
        Input as JSON
        <textarea rows={6} className="mono" value={input} onChange={(event) => setInput(event.target.value)} />
      </label>
    </Confirm>
  )
}
