import { z } from 'zod'
import { defineRoutes, time } from '../../route.ts'

const approver = z
  .object({
    name: z.string(),
    roles: z.array(z.string()).describe('Roles that questions may ask for.'),
    publicKey: z.string().describe('Ed25519, in PEM.'),
    fingerprint: z.string(),
    addedAt: time(),
    removedAt: time().nullable(),
  })
  .meta({ id: 'Approver' })

export const APPROVER_ROUTES = defineRoutes({
  'GET /approvers': {
    id: 'listApprovers',
    summary: 'The people who may decide approvals, removed ones too',
    answer: z.object({ items: z.array(approver) }),
  },
  'POST /approvers': {
    id: 'addApprover',
    noTool: 'a decision of a person',
    summary: 'Registers a person by their public key: from the first one on, every decision has to be signed',
    role: 'admin',
    body: {
      name: z
        .string()
        .regex(/^[a-z0-9][a-z0-9-]{0,39}$/)
        .describe('Of a-z, 0-9 and "-", at most 40.'),
      publicKey: z.string().max(2_000).describe('Ed25519, in PEM; that of nobody else.'),
      roles: z.array(z.string().max(100)).default([]).describe('Roles that questions may ask for.'),
    },
    answer: approver,
    audit: 'approver.add',
  },
  'DELETE /approvers/:name': {
    id: 'removeApprover',
    noTool: 'a decision of a person',
    summary: 'Ends the right of a person to decide; earlier decisions stay in the record',
    role: 'admin',
    audit: 'approver.remove',
  },
})
