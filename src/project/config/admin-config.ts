import { z } from 'zod'
import { ACCESS_ROLES } from '../../core/access/role.ts'
import { isLoopback } from '../../core/service/account.ts'

const role = z.enum(ACCESS_ROLES)

const adminUrl = z
  .url({ protocol: /^https?$/ })
  .refine((text) => URL.canParse(text) && isFit(new URL(text)), {
    error: 'must be an https address, or http with a host on this machine, without path, query or login',
  })
  .transform((text) => new URL(text).origin)

function isFit({ protocol, hostname, pathname, search, hash, username }: URL): boolean {
  return isPrivate({ protocol, hostname }) && pathname === '/' && `${search}${hash}${username}` === ''
}

function isPrivate({ protocol, hostname }: Pick<URL, 'protocol' | 'hostname'>): boolean {
  return protocol === 'https:' || isLoopback(hostname)
}

/** The part of the project file about the admin server. */
export const adminConfig = z
  .strictObject({
    host: z.string().min(1).default('127.0.0.1'),
    url: adminUrl.nullable().default(null),
    basePath: z
      .string()
      .regex(/^(\/[\w.-]+)+$/, 'must be a path such as "/ops", without a slash at its end')
      .or(z.literal(''))
      .default(''),
    metrics: z.enum(['token', 'open']).default('token'),
    proxy: z
      .strictObject({
        header: z
          .string()
          .regex(/^[\w-]+$/)
          .transform((name) => name.toLowerCase()),
        from: z.array(z.string().min(1)).min(1),
        roles: z.record(z.string(), role),
      })
      .nullable()
      .default(null),
    oidc: z
      .strictObject({
        issuer: z.url({ protocol: /^https?$/ }).refine((text) => isPrivate(new URL(text)), {
          error: 'must be an https address, or http with a host on this machine',
        }),
        clientId: z.string().min(1),
        scope: z.string().min(1).default('openid profile email'),
        groupsClaim: z.string().min(1).default('groups'),
        roles: z.record(z.string(), role),
      })
      .nullable()
      .default(null),
  })
  .refine(({ host, url }) => url !== null || host === 'localhost' || isLoopback(host) || host === '::1', {
    path: ['url'],
    error: 'is needed where host is not on this machine: the address at which browsers reach the admin server',
  })
  .prefault({})
