import { z } from 'zod'
import type { JsonValue } from '../json.ts'

/**
 * Writes a zod schema as JSON Schema, which takes all values that the zod schema takes, and perhaps
 * more. Throws for a part that JSON Schema cannot say, unless `unrepresentable` is `any`.
 */
export function writeJsonSchema(
  schema: z.ZodType,
  unrepresentable: 'throw' | 'any' = 'throw',
): { [name: string]: JsonValue } {
  return JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: 'input', unrepresentable, override: widen })))
}

/** Leaves out patterns with flags, which JSON Schema does not have, and lenient UUIDs. */
function widen({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: z.core.JSONSchema.BaseSchema }) {
  const { checks = [], ...own } = zodSchema._zod.def as { checks?: { _zod: { def: object } }[]; format?: string }
  const patterns = [own, ...checks.map(({ _zod }) => _zod.def)].map((def) => ('pattern' in def ? def.pattern : null))
  if (patterns.some((pattern) => pattern instanceof RegExp && pattern.flags !== '')) {
    delete jsonSchema.pattern
    delete jsonSchema.allOf
  }
  if (own.format === 'guid') delete jsonSchema.format
}

/** Places at which a value does not fit a JSON Schema, with why; none: it fits. */
export function findMisfits(schema: JsonValue, value: unknown): { at: string; fault: string }[] {
  const parsed = readJsonSchema(schema).safeParse(value)
  if (parsed.success) return []
  return parsed.error.issues.map(({ path, message }) => ({ at: path.map(String).join('.'), fault: message }))
}

/**
 * Reads a JSON Schema. Null takes everything, and so does one that we cannot read: the author's own
 * schema is asked as well.
 */
export function readJsonSchema(schema: JsonValue): z.ZodType {
  try {
    return schema === null ? z.unknown() : z.fromJSONSchema(schema as never)
  } catch {
    return z.unknown()
  }
}
