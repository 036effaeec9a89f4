import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { UpshotError } from '../../../../core/errors.ts'
import { parseJson } from '../../../../core/json.ts'
import type { Outline } from '../../../../core/service/shapes/outline.ts'

/** The outlines of all types, beside the generated module. It holds no value of an event. */
export const SHAPES_FILE = 'events.shapes.json'

const KINDS = ['boolean', 'integer', 'list', 'null', 'number', 'object', 'text', 'unknown']

/** Kinds of each place of each type, such as `"file.size?": "integer or null"`. */
const shapes = z.record(z.string(), z.record(z.string(), z.string().regex(/^\w+( or \w+)*$/)))

export function formatShapes(outlines: ReadonlyMap<string, Outline>): string {
  const types = [...outlines].map(([type, outline]) => [type, Object.fromEntries(formatOutline(outline))])
  return `${JSON.stringify(Object.fromEntries(types), null, 2)}\n`
}

function formatOutline(outline: Outline): [string, string][] {
  return Object.entries(outline)
    .map(([place, { kinds, isOptional }]): [string, string] => [`${place}${isOptional ? '?' : ''}`, kinds.join(' or ')])
    .sort(([one], [other]) => (one < other ? -1 : 1))
}

/** The outlines of a file by type; null where there is no such file. */
export function readShapes(file: string): Map<string, Outline> | null {
  if (!existsSync(file)) return null
  const parsed = shapes.safeParse(parseJson(readFileSync(file, 'utf8')))
  const isKnown = parsed.success && Object.values(parsed.data).every((each) => Object.values(each).every(areKinds))
  if (!parsed.success || !isKnown) {
    throw new UpshotError('invalid_config', `${file} does not hold the shapes of events.`, {
      fix: 'Make it anew with "upshot types generate --out <module>".',
    })
  }
  return new Map(Object.entries(parsed.data).map(([type, places]) => [type, readOutline(places)]))
}

function areKinds(text: string): boolean {
  return text.split(' or ').every((kind) => KINDS.includes(kind))
}

function readOutline(places: Record<string, string>): Outline {
  const entries = Object.entries(places).map(([place, kinds]) => [
    place.replace(/\?$/, ''),
    { kinds: kinds.split(' or '), isOptional: place.endsWith('?') },
  ])
  return Object.fromEntries(entries)
}
