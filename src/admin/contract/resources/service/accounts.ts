import { z } from 'zod'
import { STORAGES } from '../../../../core/service/storage.ts'
import { defineRoutes, isDryRun, time } from '../../route.ts'

const plan = z.union([z.enum(['free', 'pro', 'enterprise']), z.int().min(1).max(999_999)])
const storages = z.record(z.enum(STORAGES), z.string().min(1)).describe('The service’s name of each storage.')

const account = z
  .object({
    name: z.string(),
    baseUrl: z.string().nullable(),
    plan,
    storages,
    hasFallbackKey: z.boolean(),
    keeper: z
      .enum(['environment', 'sandbox'])
      .nullable()
      .describe('What names the account `default`; null for an account that was added.'),
    createdAt: time().nullable(),
    endpoints: z.array(z.string()).describe('Names of the endpoints that use it.'),
  })
  .meta({ id: 'Account' })

export const ACCOUNT_ROUTES = defineRoutes({
  'GET /accounts': {
    id: 'listAccounts',
    summary: 'All accounts of the service; never their keys',
    answer: z.object({ items: z.array(account) }),
  },
  'GET /accounts/:name': {
    id: 'getAccount',
    summary: 'One account of the service; never its keys',
    answer: account,
  },
  'PUT /accounts/:name': {
    id: 'saveAccount',
    noTool: 'secret',
    summary: 'Adds an account, or changes the given values; a new one has the others of the account `default`',
    role: 'admin',
    body: {
      baseUrl: z
        .url({ protocol: /^https?$/ })
        .regex(/^[^?#@]*$/, 'must have no login, query or fragment')
        .optional()
        .describe('Of its API, with the version.'),
      plan: plan.optional().describe('Its plan, or the requests per minute that it allows.'),
      storages: z
        .partialRecord(z.enum(STORAGES), z.string().min(1).optional())
        .optional()
        .describe('The service’s name of each storage.'),
      apiKey: z.string().max(4_096).optional().describe('Needed for a new account.'),
      fallbackKey: z.string().max(4_096).nullable().optional().describe('Null removes it.'),
      keepsOldKey: z.boolean().default(false).describe('The key until now becomes the fallback key.'),
      isNew: z.boolean().optional().describe('True: refused where it is there already. False: where it is not.'),
      isDryRun,
    },
    answer: account,
    audit: 'account.save',
  },
  'DELETE /accounts/:name': {
    id: 'removeAccount',
    summary: 'Removes an account that no endpoint uses',
    role: 'admin',
    audit: 'account.remove',
  },
})
