import { ACCESS_ROLES, type AccessRole } from '../../../core/access/role.ts'

/** The highest role that the groups of a user have; `*` stands for everybody. Null: none. */
export function findRole(groups: readonly string[], roles: Readonly<Record<string, AccessRole>>): AccessRole | null {
  const given = [...groups, '*'].flatMap((group) => (Object.hasOwn(roles, group) ? (roles[group] ?? []) : []))
  return ACCESS_ROLES.findLast((role) => given.includes(role)) ?? null
}
