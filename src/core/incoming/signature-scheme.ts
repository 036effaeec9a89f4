import { z } from 'zod'
import { ALGORITHMS, DEFAULT_SCHEME, ENCODINGS, SECRET_FORMS, TEMPLATES } from './signature.ts'

/** A key of the `pairs` grammar. */
const KEY = /^[\w-]{1,40}$/

const { algorithm, encoding, header, grammar, prefix, signatureKey, timestampKey, ...rest } = DEFAULT_SCHEME

/** Checks a {@link SignatureScheme}, and fills in the fields that are left out. */
export const signatureScheme = z.strictObject({
  algorithm: z.enum(ALGORITHMS).default(algorithm),
  encoding: z.enum(ENCODINGS).default(encoding),
  header: z.string().min(1).default(header),
  grammar: z.enum(['plain', 'prefix', 'pairs', 'versions']).default(grammar),
  prefix: z.string().default(prefix),
  signatureKey: z.string().regex(KEY).default(signatureKey),
  timestampKey: z.string().regex(KEY).default(timestampKey),
  signed: z.enum(['body', ...TEMPLATES]).default(rest.signed),
  timestampHeader: z.string().default(rest.timestampHeader),
  timestampUnit: z.enum(['s', 'ms']).default(rest.timestampUnit),
  idHeader: z.string().default(rest.idHeader),
  secret: z.enum(SECRET_FORMS).default(rest.secret),
  toleranceSeconds: z.number().int().positive().default(rest.toleranceSeconds),
})
