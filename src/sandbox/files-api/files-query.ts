import { z } from 'zod'
import { STORAGES } from '../../core/service/storage.ts'

const SORTS = ['createdAt', 'modifiedAt', 'name', 'size'] as const

/** Recognizes a storage in any case, with or without a separator. */
const service = z
  .string()
  .transform((text) => {
    const plain = text.toLowerCase().replace(/[-_ ]/g, '')
    return STORAGES.find((name) => name.replaceAll('_', '') === plain) ?? text
  })
  .pipe(z.enum(STORAGES))
  .meta({ description: 'Storage service; recognised ignoring case and separators', enum: [...STORAGES] })

const flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')])

const sort = z
  .enum(SORTS.flatMap((field) => [field, `-${field}`] as const))
  .default('-createdAt')
  .transform((text) => ({
    field: text.replace('-', '') as (typeof SORTS)[number],
    descending: text.startsWith('-'),
  }))

/** Parameters of a list (sections 4.2 and 4.3), from the query string or a JSON body. */
export const listRequest = z.object({
  service,
  path: z.string().default('/'),
  recursive: flag.default(false),
  page: z.coerce.number().int().min(1).default(1),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  sort,
})
export type ListRequest = z.infer<typeof listRequest>

/** Parameters of the three operations on one file (sections 4.4 to 4.6). */
export const fileRequest = z.object({ service, fileId: z.string().min(1) })

/** The page of a token; NaN, which no validation accepts, for any other text. */
export function pageOfToken(token: string): number {
  const [, page] = /^page:(\d+)$/.exec(Buffer.from(token, 'base64url').toString('latin1')) ?? []
  return Number(page ?? Number.NaN)
}

export function tokenOfPage(page: number): string {
  return Buffer.from(`page:${page}`).toString('base64url')
}
