import { z } from 'zod'
import { signatureScheme } from '../../../core/incoming/signature-scheme.ts'
import { CAUSES } from '../../../core/solver/suspects.ts'
import { defineRoutes, isDryRun, time } from '../route.ts'

const secretInfo = z.object({
  position: z.int(),
  activeFrom: time(),
  until: time().nullable(),
  lastUsedAt: time().nullable().describe('Exact to the minute; null: never.'),
})

const scheme = signatureScheme.meta({ id: 'SignatureScheme' })

const endpoint = z
  .object({
    id: z.string(),
    name: z.string(),
    path: z.string().describe('Path of its URL, `/hooks/…`.'),
    url: z.string().nullable().describe('Null while the address of the receiver is not known.'),
    account: z.string(),
    events: z.array(z.string()),
    status: z.enum(['active', 'learning', 'disabled']),
    keeper: z.enum(['environment', 'sandbox']).nullable().describe('What sets it again at each start; null: nothing.'),
    scheme,
    isHeaderKept: z.boolean().describe('True where SERVICE_SIGNATURE_HEADER names the header of its scheme.'),
    createdAt: time(),
    revision: z.int(),
    secrets: z.array(secretInfo).describe('By position; never their values.'),
    deliveries24h: z
      .record(z.string(), z.int())
      .nullable()
      .describe('Requests of the last 24 h by verdict; null in a list.'),
    captures: z.int().describe('Deliveries kept while it learns, at most 20.'),
  })
  .meta({ id: 'Endpoint' })

const secret = z.string().max(4_096).optional().describe('Default: a strong one is made and shown once.')
const shown = z.string().nullable().describe('The secret that was made, shown once; null: you gave it.')

const solution = z
  .object({
    kind: z.enum(['match', 'near', 'none']),
    scheme: scheme.nullable(),
    preset: z.string().nullable(),
    cause: z.enum(CAUSES).nullable().describe('What keeps the nearest scheme from fitting.'),
    advice: z.string().nullable(),
    tried: z.int(),
    isPinned: z.boolean(),
  })
  .meta({ id: 'Solution' })

const trial = z.object({
  sent: z.enum(['signed', 'forged', 'repeated']),
  expected: z.string(),
  got: z.string(),
  status: z.int(),
  isRight: z.boolean(),
})

export const ENDPOINT_ROUTES = defineRoutes({
  'GET /endpoints': {
    id: 'listEndpoints',
    summary: 'All endpoints, oldest first',
    answer: z.object({ items: z.array(endpoint) }),
  },
  'GET /endpoints/:name': {
    id: 'getEndpoint',
    summary: 'One endpoint, with its requests of the last 24 h',
    answer: endpoint,
  },
  'GET /endpoints/:name/captures': {
    id: 'listCaptures',
    summary: 'Deliveries kept while it learns, oldest first: names of headers, never values or bodies',
    role: 'admin',
    answer: z.object({
      items: z.array(
        z.object({ id: z.string(), receivedAt: time(), bodyBytes: z.int(), headers: z.array(z.string()) }),
      ),
    }),
  },
  'POST /endpoints': {
    role: 'admin',
    id: 'addEndpoint',
    noTool: 'secret',
    summary: 'A new endpoint',
    body: {
      name: z.string().describe('Of a-z, 0-9 and "-".'),
      account: z.string().default('default').describe('The account that its events belong to.'),
      events: z.array(z.string()).min(1).default(['*']).describe('Types and families that start workflows.'),
      scheme: signatureScheme.optional().describe('Default: hex of HMAC-SHA256.'),
      learn: z.boolean().default(false).describe('Captures deliveries until its scheme is known.'),
      secret,
      isDryRun,
    },
    answer: z.object({ endpoint, secret: shown }),
    audit: 'endpoint.add',
  },
  'PATCH /endpoints/:name': {
    role: 'admin',
    id: 'changeEndpoint',
    summary: 'Changes the given values, from the next delivery on',
    body: {
      account: z.string().optional().describe('The account that its events belong to.'),
      events: z.array(z.string()).min(1).optional().describe('Types and families that start workflows.'),
      scheme: signatureScheme.optional().describe('How deliveries are signed.'),
      status: z
        .enum(['active', 'learning', 'disabled'])
        .optional()
        .describe('`learning` captures and refuses with 503; `disabled` refuses with 401.'),
      revision: z.int().optional().describe('Refused where the endpoint has changed since.'),
      isDryRun,
    },
    answer: endpoint,
    audit: 'endpoint.change',
  },
  'POST /endpoints/:name/rotate': {
    role: 'admin',
    id: 'rotateSecret',
    noTool: 'secret',
    summary: 'Adds a secret; older ones stay valid for the overlap',
    body: {
      overlap: z.enum(['0', '1h', '24h', '7d']).default('24h').describe('How long older secrets stay valid.'),
      secret,
      isDryRun,
    },
    answer: z.object({ endpoint, secret: shown }),
    audit: 'endpoint.change',
  },
  'POST /endpoints/:name/retire': {
    role: 'admin',
    id: 'retireSecrets',
    isDestructive: true,
    summary: 'Ends all secrets but the newest now',
    body: { isDryRun },
    answer: endpoint,
    audit: 'endpoint.change',
  },
  'POST /endpoints/:name/solve': {
    role: 'admin',
    id: 'solveScheme',
    noTool: 'secret',
    summary: 'Finds the scheme of captured deliveries; a secret is stored only where it fits and is pinned',
    body: {
      delivery: z.string().optional().describe('The only captured delivery to use, or the beginning of its id.'),
      secret: z.string().max(4_096).optional().describe('Secret to try. Default: those of the endpoint.'),
      pin: z.boolean().default(false).describe('Sets a scheme that fits, and accepts deliveries from now on.'),
    },
    answer: solution,
    audit: 'endpoint.change',
  },
  'POST /endpoints/:name/pin': {
    role: 'admin',
    id: 'pinScheme',
    summary: 'Sets the scheme, and accepts deliveries from now on',
    body: { scheme: signatureScheme.describe('How deliveries are signed.'), isDryRun },
    answer: endpoint,
    audit: 'endpoint.change',
  },
  'POST /endpoints/:name/test': {
    role: 'admin',
    id: 'testEndpoint',
    summary: 'Sends a signed, a forged and a repeated delivery through the receiver',
    body: {
      isPublic: z.boolean().default(false).describe('Uses the public URL, through every proxy before the app.'),
    },
    answer: z.object({ event: z.string(), isPassed: z.boolean(), isStored: z.boolean(), trials: z.array(trial) }),
    audit: 'endpoint.test',
  },
  'DELETE /endpoints/:name': {
    role: 'admin',
    id: 'removeEndpoint',
    summary: 'Removes an endpoint and its secrets for good; its deliveries stay',
    audit: 'endpoint.remove',
  },
})
