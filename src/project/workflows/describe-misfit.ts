import type { z } from 'zod'

/** A place of an event's `data` that does not fit its definition. */
export interface Misfit {
  /** Such as `data.file.size`. */
  at: string
  /** Holds no value of the event. */
  fault: string
  /** The definition's own words, and the value as JSON text: only for a terminal. */
  shown: string
}

/** Characters of a value that are shown. */
const SHOWN = 200

/** A message of the definition may hold values of the event, so the fault is told in our words. */
export function describeMisfit(issue: z.core.$ZodIssue, data: unknown): Misfit {
  const value = issue.path.reduce<unknown>((inner, name) => (inner as Record<PropertyKey, unknown>)?.[name], data)
  const text = JSON.stringify(value) ?? 'missing'
  const cut = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
  return {
    at: ['data', ...issue.path].join('.'),
    fault: describeFault(issue, value),
    shown: `${issue.message} (it is ${cut})`,
  }
}

function describeFault(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${issue.expected}, is ${kindOf(value)}`
    case 'invalid_value':
      return `is none of the expected values: ${kindOf(value)}`
    case 'invalid_format':
      return `expected ${issue.format}, is another ${kindOf(value)}`
    case 'too_small':
    case 'too_big':
      return `is out of the expected bounds: ${kindOf(value)}`
    case 'unrecognized_keys':
      return `has ${issue.keys.length} names that were not expected`
    default:
      return `does not fit as expected: ${kindOf(value)}`
  }
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  return typeof value === 'string' ? 'text' : typeof value
}
