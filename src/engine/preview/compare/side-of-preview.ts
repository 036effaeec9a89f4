import type { FileState } from '../../../core/safety/effect.ts'
import type { Previewed, PreviewedEffect, PreviewedEnd } from '../previewed.ts'
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
  switch (end.kind) {
    case 'completed':
      return { kind: end.kind, text: '', output: end.output }
    case 'continued':
      return { kind: end.kind, text: '', output: end.input }
    case 'failed':
      return { kind: end.kind, text: `${end.error.name}: ${end.error.message}`, output: null }
    case 'skipped':
    case 'halted':
      return { kind: end.kind, text: end.reason, output: null }
    case 'open':
      return { kind: end.kind, text: `step "${end.step}": ${end.reason}`, output: null }
    default:
      return end satisfies never
  }
}

/** As the ledger keeps the state that a delete requires. */
function describeState({ path, bytes, modifiedAt }: FileState): string {
  return JSON.stringify({ path, bytes, modifiedAt })
}
