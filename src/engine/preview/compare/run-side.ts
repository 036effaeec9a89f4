import { asPreviewed } from '../../../core/incoming/hook.ts'
import type { Recording } from '../../../core/runs/claim.ts'
import { type Checkpoint, stepNameOf } from '../../../core/runs/step.ts'
import type { Asked, FileState } from '../../../core/safety/effect.ts'
import { type Previewed, type PreviewedEffect, type PreviewedEnd, whyOf } from '../previewed.ts'
import type { Deed, Ending, RunSide } from './deed.ts'
import { readHeldBy } from './held.ts'

/** The facts about an effect beyond the row of its step. */
export interface Request {
  step: string
  /** The workflow that it invokes; undefined: not known, or another step. */
  target?: string
  /** JSON text of the state that its author required; undefined: not known. */
  expect?: string | null
  /** JSON text; undefined: not known. */
  content?: string | null
  bytes?: number | null
  /** As in a {@link Deed}. */
  heldBy?: string | null | undefined
}

/** A ledger row that tells what an effect was asked to do. */
interface AskedRow {
  step: string | null
  asked: string | null
  expect: string | null
  approval: string | null
  bytes: number | null
}

/** The side of a recorded run. `output`: JSON text of its end; null where nobody compares it. */
export function sideOfRecording(
  { run, steps }: Pick<Recording, 'run' | 'steps'>,
  requests: readonly Request[],
  output: string | null,
): RunSide {
  const known = new Map(requests.map((request) => [request.step, request]))
  const deeds = steps.flatMap((step) => describeStep(step, known.get(step.key)))
  return withoutHooks({ end: describeEnd(run, output), deeds })
}

/** The request of a ledger row. An approved delete requires what people saw, not its author. */
export function readAsked({ step, asked, expect, approval, bytes }: AskedRow): Request {
  const { input } = (asked === null ? {} : JSON.parse(asked)) as Partial<Asked>
  return {
    step: step ?? '',
    bytes,
    content: input === undefined ? null : JSON.stringify(input),
    ...(approval === null ? { expect, heldBy: null } : {}),
  }
}

function describeStep({ key, kind, effect, target, error }: Checkpoint, request: Request | undefined): Deed[] {
  const kindOf = classOf(kind, effect)
  if (kindOf === null) return []
  // The journal names the run, which is another one each time.
  const own = kindOf === 'invoke' ? null : target
  const { target: asked = own, expect, content, bytes = null, heldBy = readRefusal(error) } = request ?? {}
  return [{ step: key, class: kindOf, operation: stepNameOf(key), target: asked, bytes, expect, content, heldBy }]
}

/** Names the limit of an effect that never began: people denied it, or the limit refuses it. */
function readRefusal(error: Checkpoint['error']): string | undefined {
  return error?.code === 'denied' ? readHeldBy(error.message, !error.message.includes('approval apr_')) : undefined
}

/** Null for a step that does nothing outside. */
function classOf(kind: Checkpoint['kind'], effect: Checkpoint['effect']): Deed['class'] | null {
  if (kind === 'send' || kind === 'invoke' || kind === 'approve') return kind
  if (kind === 'schedule') return 'write'
  return kind === 'run' && effect !== 'read' ? effect : null
}

function describeEnd({ status, error, reason, continuedBy }: Recording['run'], output: string | null): Ending {
  if (continuedBy !== null) return { kind: 'continued', text: '', output: null }
  switch (status) {
    case 'completed':
      return { kind: status, text: '', output }
    case 'failed':
      return { kind: status, text: error === null ? '' : `${error.name}: ${error.message}`, output: null }
    case 'planned':
      throw new Error('A run that was only planned has no recording.')
    case 'skipped':
    case 'canceled':
      return { kind: status, text: reason ?? '', output: null }
    case 'pending':
    case 'running':
    case 'waiting':
      return { kind: 'open', text: reason ?? '', output: null }
    default:
      return status satisfies never
  }
}

export function sideOfPreview({ end, effects, unstarted = null }: PreviewedSide): RunSide {
  return withoutHooks({ end: describePreviewedEnd(end), deeds: effects.map(describeEffect), unstarted })
}

/** With the URLs of hooks as a preview gives them: those of recorded answers are the real ones. */
function withoutHooks({ end, deeds, ...more }: RunSide): RunSide {
  const port = <Text extends string | null | undefined>(text: Text) => (text ? asPreviewed(text) : text) as Text
  const ported = deeds.map((deed) => ({ ...deed, target: port(deed.target), content: port(deed.content) }))
  return { end: { ...end, output: port(end.output) }, deeds: ported, ...more }
}

type PreviewedSide = Pick<Previewed, 'end' | 'effects'> & Pick<RunSide, 'unstarted'>

function describeEffect({ asked, expect, body, ...effect }: PreviewedEffect): Deed {
  const { step, class: kind, operation, target, after, begunBefore } = effect
  const input = asked?.input === undefined ? null : JSON.stringify(asked.input)
  return {
    step,
    class: kind,
    operation,
    target,
    after,
    begunBefore,
    bytes: asked?.bytes ?? null,
    expect: expect === null ? null : describeState(expect),
    content: body ?? input,
  }
}

function describePreviewedEnd(end: PreviewedEnd): Ending {
  const text = `${end.kind === 'open' ? `step "${end.step}": ` : ''}${whyOf(end) ?? ''}`
  const output = end.kind === 'completed' ? end.output : end.kind === 'continued' ? end.input : null
  return { kind: end.kind, text, output }
}

/** As the ledger keeps the state that a delete requires. */
function describeState({ path, bytes, modifiedAt }: FileState): string {
  return JSON.stringify({ path, bytes, modifiedAt })
}
