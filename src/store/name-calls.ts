/** The functions of tables that callers of the store use, by table. Each has one name in both. */
export type Members<Tables> = { readonly [Table in keyof Tables]?: readonly (keyof Tables[Table])[] }

type Joined<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never

/** The functions that a list names, as their callers see them. */
export type Listed<Tables, Lists> = Joined<
  {
    [Table in keyof Tables & keyof Lists]: Lists[Table] extends readonly (infer Name)[]
      ? Pick<Tables[Table], Name & keyof Tables[Table]>
      : never
  }[keyof Tables & keyof Lists]
>

/** Functions of all tables as their callers see them, who have no tables. */
export type Bound<Functions> = {
  [Name in keyof Functions]: Functions[Name] extends (tables: never, ...args: infer Args) => infer Answer
    ? (...args: Args) => Answer
    : never
}

/** Functions by the names of tables, and their own. */
type Named = Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>

/** Every call by its name: those that one table answers, and those that take more of them. */
export function nameCalls<Tables, Calls>(lists: Members<Tables>, joined: object) {
  const listed = Object.entries(lists as Record<string, readonly string[]>).flatMap(([table, names]) =>
    names.map((name) => [name, (tables: Named, ...args: unknown[]) => tables[table]?.[name]?.(...args)]),
  )
  return { ...Object.fromEntries(listed), ...joined } as {
    [Name in keyof Calls]: (tables: Tables, ...args: unknown[]) => Promise<unknown>
  }
}
