import type { FileState } from '../../../core/safety/effect.ts'
import { type Previewed, type PreviewedEffect, type PreviewedEnd, whyOf } from '../previewed.ts'
import type { Deed, Ending, RunSide } from './deed.ts'

export function sideOfPreview({ end, effects, unstarted = null }: PreviewedSide): RunSide {
  return { end: describeEnd(end), deeds: effects.map(describeEffect), unstarted }
}

type PreviewedSide = Pick<Previewed, 'end' | 'effects'> & Pick<RunSide, 'unstarted'>

function describeEffect({ asked, expect, body, ...effect }: PreviewedEffect): Deed {
  const { step, class: kind, operation, target, after, begunBefore } = effect
  const input = asked?.input === undefined ? null : JSON.stringify(asked.input)
  return {
    ...{ step, class: kind, operation, target, after, begunBefore, bytes: asked?.bytes ?? null },
    expect: expect === null ? null : describeState(expect),
    content: body ?? input,
  }
}

function describeEnd(end: PreviewedEnd): Ending {
  const text = `${end.kind === 'open' ? `step "${end.step}": ` : ''}${whyOf(end) ?? ''}`
  const output = end.kind === 'completed' ? end.output : end.kind === 'continued' ? end.input : null
  return { kind: end.kind, text, output }
}

/** As the ledger keeps the state that a delete requires. */
function describeState({ path, bytes, modifiedAt }: FileState): string {
  return JSON.stringify({ path, bytes, modifiedAt })
}
