type Primitive = string | number | boolean | null

/** Types whose values JSON refuses, drops or empties. `never` stands for any parameters. */
type NoJson =
  | bigint
  | symbol
  | ((...given: never) => unknown)
  | (abstract new (
      ...given: never
    ) => unknown)
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | Error

/** `T`, with `never` wherever JSON would change it: `T` extends this if it comes back as it is. */
type Unchanged<T> = unknown extends T
  ? T
  : T extends Primitive
    ? T
    : T extends NoJson | undefined | { toJSON: unknown }
      ? never
      : T extends readonly (infer Item)[]
        ? readonly Unchanged<Item>[]
        : T extends object
          ? { [Key in keyof T]: Key extends symbol ? never : Unchanged<T[Key]> }
          : never

/** The properties that are always there. */
type AlwaysThere<T> = {
  [Key in keyof T as Key extends symbol ? never : undefined extends T[Key] ? never : Key]: Jsonify<T[Key]>
}

/** The properties that may be undefined; JSON leaves them out. */
type MaybeUndefined<T> = {
  [Key in keyof T as Key extends symbol
    ? never
    : undefined extends T[Key]
      ? [T[Key]] extends [undefined]
        ? never
        : Key
      : never]?: Jsonify<Exclude<T[Key], undefined>>
}

/** An intersection as one object, as an editor should show it. */
type Flat<T> = { [Key in keyof T]: T[Key] }

/**
 * A value as it comes back from JSON. Types that JSON keeps stay themselves.
 *
 * A `Date` is text, `undefined` is null, and a property that is undefined is gone.
 */
export type Jsonify<T> = unknown extends T
  ? T
  : T extends Primitive
    ? T
    : T extends undefined
      ? null
      : T extends { toJSON(...given: never): infer Json }
        ? Jsonify<Json>
        : T extends NoJson
          ? never
          : T extends object
            ? T extends Unchanged<T>
              ? T
              : T extends readonly unknown[]
                ? number extends T['length']
                  ? Jsonify<T[number]>[]
                  : { [Key in keyof T]: Jsonify<T[Key]> }
                : Flat<AlwaysThere<T> & MaybeUndefined<T>>
            : T

/** `T`, with `never` wherever JSON cannot keep it. */
type Keepable<T> = unknown extends T
  ? T
  : T extends Primitive | undefined
    ? T
    : T extends { toJSON(...given: never): unknown }
      ? T
      : T extends NoJson
        ? never
        : T extends readonly (infer Item)[]
          ? readonly Keepable<Item>[]
          : T extends object
            ? { [Key in keyof T]: Keepable<T[Key]> }
            : T

/**
 * `unknown` for a result that JSON can keep. For any other, a type that no value has, so that its
 * function does not compile.
 */
export type KeptAsJson<T> = [T] extends [Keepable<T>]
  ? unknown
  : { 'a result is kept as JSON, without functions, symbols, bigint, Map, Set and Error': never }
