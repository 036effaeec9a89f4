import { type ReactNode, useState } from 'react'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { useApi } from '../../api/use-api.ts'
import { JsonTree } from '../../parts/json-tree.tsx'
import { Loaded } from '../../parts/messages.tsx'
import { Card } from '../../parts/page.tsx'
import { useMay } from '../../state/session.ts'
import { formatBytes } from '../../words/format.ts'
import type { Run, Step } from '../../words/runs.ts'

/** Results before a step that are offered, nearest first. */
const MAX_BEFORE = 20

/** The data that a step could see, beside the result that it gave. */
export function DataCard({ run, step, steps }: { run: Run; step: Step; steps: readonly Step[] }) {
  const isBefore = (each: Step) => each.finishedAt !== null && each.finishedAt <= step.startedAt && each !== step
  const before = steps.filter((each) => isBefore(each) && each.outputBytes !== null).toReversed()
  return (
    <Card title="In and out">
      <div className="sides">
        <section className="stack" aria-label="In">
          <h3>In</h3>
          {run.eventId !== null && (
            <Fold title={`The event ${run.eventType}`} isOpen={before.length === 0}>
              <EventData id={run.eventId} account={run.account} />
            </Fold>
          )}
          {before.slice(0, MAX_BEFORE).map(({ key }, index) => (
            <Fold key={key} title={`The result of ${key}`} isOpen={index === 0}>
              <StepOutput run={run.id} step={key} />
            </Fold>
          ))}
          {before.length > MAX_BEFORE && (
            <p className="quiet">And {before.length - MAX_BEFORE} results before these.</p>
          )}
          {run.eventId === null && before.length === 0 && (
            <p className="quiet">No event and no result came before it.</p>
          )}
        </section>
        <section className="stack" aria-label="Out">
          <h3>Out</h3>
          {step.error && (
            <p className="problem">
              {step.error.name}: {step.error.message}
            </p>
          )}
          {step.outputBytes !== null && <StepOutput run={run.id} step={step.key} />}
          {step.outputBytes === null && !step.error && (
            <p className="quiet">{step.finishedAt === null ? 'It has not ended yet.' : 'It gave no result.'}</p>
          )}
        </section>
      </div>
    </Card>
  )
}

/** Its content is asked for once it is open. */
function Fold({ title, isOpen, children }: { title: string; isOpen: boolean; children: ReactNode }) {
  const [isShown, setShown] = useState(isOpen)
  return (
    <details open={isShown} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary className="wrap">{title}</summary>
      {isShown && children}
    </details>
  )
}

function EventData({ id, account }: { id: string; account: string }) {
  const event = useApi('GET /events/:id', { params: { id }, query: { account } })
  return (
    <Loaded of={event} lines={3}>
      {(found) => <EventBody event={found} />}
    </Loaded>
  )
}

type Event = AnswerOf<'GET /events/:id'>

/** The data of an event; of one that is too large for the page, its first part and the way to the rest. */
export function EventBody({ event: { id, account, data, dataNote, isPruned } }: { event: Event }) {
  const isEnabled = useMay('operator') && dataNote !== null
  const part = useApi('GET /events/:id/data', { params: { id }, query: { account } }, { isEnabled })
  if (isPruned) return <p className="quiet">Retention has removed the body.</p>
  if (dataNote === null) return <JsonTree value={data} />
  return (
    <>
      <p className="quiet">{dataNote}</p>
      {isEnabled && <Loaded of={part}>{({ text }) => <LongText text={`${text}…`} />}</Loaded>}
    </>
  )
}

function StepOutput({ run, step }: { run: string; step: string }) {
  return <OutputView of={useApi('GET /runs/:id/steps/:key/output', { params: { id: run, key: step } })} />
}

/** A result, or the first part of a long one. */
export function OutputView({ of }: { of: ReturnType<typeof useApi<'GET /runs/:id/output'>> }) {
  return (
    <Loaded of={of} lines={3}>
      {({ isWhole, value, text, bytes }) =>
        isWhole ? (
          <JsonTree value={value} />
        ) : (
          <>
            <p className="quiet">The first part of {formatBytes(bytes)}.</p>
            <LongText text={text ?? ''} />
          </>
        )
      }
    </Loaded>
  )
}

function LongText({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <pre className="source" tabIndex={0}>
      {text}
    </pre>
  )
}
