import type { z } from 'zod'
import { UpshotError } from '../../core/errors.ts'
import { writeJsonSchema } from '../../core/incoming/json-schema.ts'
import type { JsonValue } from '../../core/json.ts'

const MAX_ASK = 500

/** Throws `invalid_workflow` where people could not read the question of a step. */
export function requireAsk(key: string, ask: unknown): void {
  if (typeof ask === 'string' && ask.trim() !== '' && ask.length <= MAX_ASK) return
  throw refuseStep(key, `\`ask\` must be a question of 1 to ${MAX_ASK} characters.`)
}

/** The schema of an answer as JSON, by which others check one; null without a schema. */
export function describeSchema(key: string, option: string, schema: z.ZodType | undefined): JsonValue {
  if (schema === undefined) return null
  try {
    return writeJsonSchema(schema)
  } catch (cause) {
    const fault = `\`${option}\` has no JSON Schema. Use objects, lists, text, numbers and enums.`
    throw refuseStep(key, fault, { cause })
  }
}

export function refuseStep(key: string, fault: string, options?: { cause: unknown }): UpshotError {
  return new UpshotError('invalid_workflow', `Step "${key}": ${fault}`, options)
}
