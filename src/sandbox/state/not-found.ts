import { UpshotError } from '../../core/errors.ts'

/** Throws `not_found`. */
export function notFound(what: string, id: string): never {
  throw new UpshotError('not_found', `There is no ${what} ${id}.`)
}
