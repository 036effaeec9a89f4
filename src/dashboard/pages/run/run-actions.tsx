import { useState } from 'react'
import { useLocation } from 'wouter'
import { call, urlOf } from '../../api/client.ts'
import { useAction } from '../../api/use-api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useMay } from '../../state/session.ts'
import { useToasts } from '../../state/toasts.tsx'
import { countOf } from '../../words/format.ts'
import { canRetry, isFinished, type Run, type Step } from '../../words/runs.ts'

type Dialog = 'cancel' | 'restart' | 'fork' | 'resolve'

/** The actions on a run. Buttons that the role lacks are absent. */
export function RunActions({ run, steps }: { run: Run; steps: readonly Step[] }) {
  const mayAct = useMay('operator')
  const toast = useToasts()
  const [dialog, setDialog] = useState<Dialog | null>(null)
  const retry = useAction('POST /runs/:id/retry')
  const resume = useAction('POST /runs/:id/resume')
  const params = { id: run.id }
  const tell = { onError: (error: Error) => toast(error.message, true) }
  return (
    <div className="row">
      {mayAct && canRetry(run) && (
        <button
          type="button"
          className="main"
          data-key="r"
          disabled={retry.isPending}
          onClick={() => retry.mutate({ params, body: {} }, { ...tell, onSuccess: () => toast('The run goes on.') })}
        >
          Retry from the failed step
        </button>
      )}
      {mayAct && run.status === 'failed' && <ResolveButton run={run} open={() => setDialog('resolve')} />}
      {mayAct && run.needsPerson && (
        <>
          <button
            type="button"
            className="main"
            data-key="r"
            onClick={() => resume.mutate({ params, body: {} }, { ...tell, onSuccess: () => toast('The run goes on.') })}
          >
            Resume
          </button>
          <button type="button" onClick={() => setDialog('restart')}>
            Start again…
          </button>
        </>
      )}
      {mayAct && steps.length > 0 && (
        <button type="button" onClick={() => setDialog('fork')}>
          Run again from a step…
        </button>
      )}
      {mayAct && !isFinished(run) && (
        <button type="button" className="danger" data-key="c" onClick={() => setDialog('cancel')}>
          Cancel…
        </button>
      )}
      <CopyAs cli={`upshot runs show ${run.id}`} url={urlOf('GET /runs/:id', { params })} />
      {dialog === 'resolve' && <ResolveDialog run={run} onClose={() => setDialog(null)} />}
      {dialog === 'cancel' && <CancelDialog run={run} onClose={() => setDialog(null)} />}
      {dialog === 'restart' && <RestartDialog run={run} steps={steps} onClose={() => setDialog(null)} />}
      {dialog === 'fork' && <ForkDialog run={run} steps={steps} onClose={() => setDialog(null)} />}
    </div>
  )
}

/** Marks a failed run as resolved, or takes that back. */
function ResolveButton({ run, open }: { run: Run; open: () => void }) {
  const toast = useToasts()
  const unresolve = useAction('POST /runs/:id/unresolve')
  const takeBack = () =>
    unresolve.mutate(
      { params: { id: run.id }, body: {} },
      { onError: (error) => toast(error.message, true), onSuccess: () => toast('The failure is open again.') },
    )
  return (
    <button type="button" disabled={unresolve.isPending} onClick={run.resolution === null ? open : takeBack}>
      {run.resolution === null ? 'Mark as resolved…' : 'Open the failure again'}
    </button>
  )
}

function ResolveDialog({ run, onClose }: { run: Run; onClose: () => void }) {
  const resolve = useAction('POST /runs/:id/resolve')
  const params = { id: run.id }
  const body = { reason: '…' }
  return (
    <Confirm
      title={`Is this run of ${run.workflow} resolved?`}
      action="Mark as resolved"
      isReasonNeeded
      beside={
        <CopyAs
          cli={`upshot runs resolve ${run.id} --reason "…"`}
          url={urlOf('POST /runs/:id/resolve', { params, body })}
          body={body}
        />
      }
      onClose={onClose}
      perform={(reason = '') => resolve.mutateAsync({ params, body: { reason } })}
    >
      <p>Its failure no longer counts as one that needs you. The run stays failed, and can still be retried.</p>
    </Confirm>
  )
}

function CancelDialog({ run, onClose }: { run: Run; onClose: () => void }) {
  const cancel = useAction('POST /runs/:id/cancel')
  return (
    <Confirm
      title={`Cancel this run of ${run.workflow}?`}
      action="Cancel the run"
      isDangerous
      onClose={onClose}
      perform={(reason) => cancel.mutateAsync({ params: { id: run.id }, body: { reason } })}
    >
      <p>It stops within a moment, with all runs that it invoked. Finished steps stay as they are.</p>
    </Confirm>
  )
}

function RestartDialog({ run, steps, onClose }: { run: Run; steps: readonly Step[]; onClose: () => void }) {
  const resume = useAction('POST /runs/:id/resume')
  const effects = steps.filter(({ effect, status }) => effect !== 'read' && status === 'completed')
  return (
    <Confirm
      title={`Start this run of ${run.workflow} again?`}
      action="Start again"
      isDangerous
      onClose={onClose}
      perform={(reason) => resume.mutateAsync({ params: { id: run.id }, body: { reason, fromScratch: true } })}
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
    </Confirm>
  )
}

function ForkDialog({ run, steps, onClose }: { run: Run; steps: readonly Step[]; onClose: () => void }) {
  const [fromStep, setFromStep] = useState(steps.find(({ status }) => status === 'failed')?.key ?? steps[0]?.key ?? '')
  const [, go] = useLocation()
  const fork = async (reason: string | undefined) => {
    const made = await call('POST /runs/:id/fork', { params: { id: run.id }, body: { reason, fromStep } })
    go(`/runs/${made.id}`)
  }
  const kept = steps.findIndex(({ key }) => key === fromStep)
  return (
    <Confirm title="Run again from a step" action="Make the new run" onClose={onClose} perform={fork}>
      <label>
        First step to run again
        <select value={fromStep} onChange={(event) => setFromStep(event.target.value)}>
          {steps.map(({ key }) => (
            <option key={key}>{key}</option>
          ))}
        </select>
      </label>
      <p className="quiet">A new run keeps the results of the {countOf(Math.max(kept, 0), 'step')} before it.</p>
    </Confirm>
  )
}
