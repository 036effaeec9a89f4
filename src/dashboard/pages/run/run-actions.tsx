import { useLocation } from 'wouter'
import { Act, ActNow } from '../../parts/act.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { hrefOfRun } from '../../parts/text.tsx'
import { useMay } from '../../state/session.ts'
import { countOf } from '../../words/format.ts'
import { canRetry, isFinished, type Run, type Step } from '../../words/runs.ts'

/** The actions on a run. Buttons that the role lacks are absent. */
export function RunActions({ run, steps }: { run: Run; steps: readonly Step[] }) {
  const mayAct = useMay('operator')
  const params = { id: run.id }
  const retry = { look: 'main', hotkey: 'r', tell: () => ['The run goes on.'] as const } as const
  return (
    <div className="row">
      {mayAct && canRetry(run) && (
        <ActNow label="Retry from the failed step" to="POST /runs/:id/retry" input={{ params, body: {} }} {...retry} />
      )}
      {mayAct && run.status === 'failed' && <Resolve run={run} />}
      {mayAct && run.needsPerson && (
        <>
          <ActNow label="Resume" to="POST /runs/:id/resume" input={{ params, body: {} }} {...retry} />
          <Restart run={run} steps={steps} />
        </>
      )}
      {mayAct && steps.length > 0 && <Fork run={run} steps={steps} />}
      {mayAct && !isFinished(run) && (
        <Act
          label="Cancel…"
          look="danger"
          hotkey="c"
          title={`Cancel this run of ${run.workflow}?`}
          action="Cancel the run"
          isDangerous
          to="POST /runs/:id/cancel"
          given={{ params }}
        >
          <p>It stops within a moment, with all runs that it invoked. Finished steps stay as they are.</p>
        </Act>
      )}
      <CopyAs cli={`upshot runs show ${run.id}`} to="GET /runs/:id" input={{ params }} />
    </div>
  )
}

/** Marks a failed run as resolved, or takes that back. */
function Resolve({ run: { id, workflow, resolution } }: { run: Run }) {
  if (resolution !== null) {
    return (
      <ActNow
        label="Open the failure again"
        to="POST /runs/:id/unresolve"
        input={{ params: { id }, body: {} }}
        tell={() => ['The failure is open again.']}
      />
    )
  }
  return (
    <Act
      label="Mark as resolved…"
      title={`Is this run of ${workflow} resolved?`}
      action="Mark as resolved"
      isReasonNeeded
      to="POST /runs/:id/resolve"
      given={{ params: { id } }}
      cli={`upshot runs resolve ${id} --reason "…"`}
    >
      <p>Its failure no longer counts as one that needs you. The run stays failed, and can still be retried.</p>
    </Act>
  )
}

function Restart({ run: { id, workflow }, steps }: { run: Run; steps: readonly Step[] }) {
  const effects = steps.filter(({ effect, status }) => effect !== 'read' && status === 'completed')
  return (
    <Act
      label="Start again…"
      title={`Start this run of ${workflow} again?`}
      action="Start again"
      isDangerous
      to="POST /runs/:id/resume"
      given={{ params: { id }, body: { fromScratch: true } }}
    >
      <p>
        It forgets all its steps and begins at its first line. {countOf(effects.length, 'effect')} will happen once
        more.
      </p>
      <ul className="small mono">
        {effects.slice(0, 10).map(({ key }) => (
          <li key={key}>{key}</li>
        ))}
      </ul>
    </Act>
  )
}

function Fork({ run: { id }, steps }: { run: Run; steps: readonly Step[] }) {
  const [, go] = useLocation()
  const keys = steps.map(({ key }) => key)
  const first = steps.find(({ status }) => status === 'failed')?.key ?? keys[0] ?? ''
  return (
    <Act
      label="Run again from a step…"
      title="Run again from a step"
      action="Make the new run"
      fields={[{ name: 'fromStep', label: 'First step to run again', options: keys, value: first }]}
      to="POST /runs/:id/fork"
      given={({ fromStep }) => ({ params: { id }, body: { fromStep: String(fromStep) } })}
      then={(made) => go(hrefOfRun(made))}
    >
      {({ fromStep = first }) => (
        <p className="quiet">
          A new run keeps the results of the {countOf(Math.max(keys.indexOf(fromStep), 0), 'step')} before it.
        </p>
      )}
    </Act>
  )
}
