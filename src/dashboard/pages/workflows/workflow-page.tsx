import { useLocation } from 'wouter'
import { useApi } from '../../api/use-api.ts'
import { Act } from '../../parts/act.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { ListTable } from '../../parts/list.tsx'
import { Empty } from '../../parts/messages.tsx'
import { DetailPage } from '../../parts/page.tsx'
import { RUNS } from '../../parts/run-table.tsx'
import { hrefOfRun } from '../../parts/text.tsx'
import { When } from '../../parts/when.tsx'
import { useMay } from '../../state/session.ts'
import { countOf } from '../../words/format.ts'
import { triggerOf, type Workflow } from '../../words/runs.ts'
import { TryEvent } from './event-matches.tsx'
import { GraphCard } from './graph-card.tsx'

/** One workflow: what starts it, whether it is paused, and its newest runs. */
export default function WorkflowPage({ id }: { id: string }) {
  const input = { params: { id } }
  const workflow = useApi('GET /workflows/:id', input)
  const mayAct = useMay('operator')
  return (
    <DetailPage
      of={workflow}
      title={id}
      above={[['/workflows', 'Workflows']]}
      head={(found) => ({
        title: found.id,
        beside: found.pausedAt !== null && (
          <span className="status" data-state="waiting">
            ‖ paused <When at={found.pausedAt} />, {countOf(found.held, 'run')} held
          </span>
        ),
        children: (
          <>
            {mayAct && <Actions workflow={found} />}
            <CopyAs cli={`upshot workflows show ${id}`} to="GET /workflows/:id" input={input} />
          </>
        ),
        facts: [
          ['Starts on', triggerOf(found)],
          ['File', <code key="file">{found.file}</code>],
          found.priority !== 0 && ['Priority', found.priority],
          ['Loaded', <When key="loaded" at={found.loadedAt} />],
        ],
      })}
    >
      {(found) => (
        <>
          {found.eventTypes.length > 0 && <TryEvent workflow={found.id} type={found.eventTypes[0]} />}
          <GraphCard workflow={id} />
          <ListTable
            of="GET /runs"
            query={{ workflow: id }}
            label="Runs"
            columns={RUNS}
            keyOf={({ id: run }) => run}
            hrefOf={hrefOfRun}
            empty={<Empty title="It has no run yet." />}
          />
        </>
      )}
    </DetailPage>
  )
}

function Actions({ workflow: { id, pausedAt, held, schedule, eventTypes } }: { workflow: Workflow }) {
  const [, go] = useLocation()
  const given = { params: { id } }
  const isPaused = pausedAt !== null
  return (
    <>
      {schedule === null && eventTypes.length === 0 && (
        <Act
          label="Start…"
          title={`Start ${id}`}
          action="Start a run"
          fields={[{ name: 'input', label: 'Input as JSON', kind: 'json' }]}
          to="POST /workflows/:id/start"
          given={({ input }) => ({ ...given, body: { input } })}
          then={(run) => go(hrefOfRun(run))}
        />
      )}
      <Act
        label={isPaused ? 'Resume…' : 'Pause…'}
        title={`${isPaused ? 'Resume' : 'Pause'} ${id}?`}
        action={isPaused ? 'Resume' : 'Pause'}
        to={isPaused ? 'POST /workflows/:id/resume' : 'POST /workflows/:id/pause'}
        given={given}
      >
        <p>
          {isPaused
            ? `Its ${countOf(held, 'held run')} go on, oldest first.`
            : 'Its runs are held. Events and ticks are still stored, and nothing is lost.'}
        </p>
      </Act>
    </>
  )
}
