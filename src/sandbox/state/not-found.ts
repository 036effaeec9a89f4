import { UpshotError } from '../../core/errors.ts'

/** Throws `not_found` for a thing that was named by its id. */
export function notFound(what: string, id: string): never {
  throw new UpshotError('not_found', `There is no ${what} ${id}.`)
}
