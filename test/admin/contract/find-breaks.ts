type Json = Record<string, unknown>

const asObject = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** Everything by which a client of the old OpenAPI document would break against the new one. */
export function findBreaks(old: unknown, next: unknown): string[] {
  const [oldPaths, nextPaths] = [asObject(asObject(old).paths), asObject(asObject(next).paths)]
  const ofPaths = Object.entries(oldPaths).flatMap(([path, methods]) =>
    Object.entries(asObject(methods)).flatMap(([method, operation]) => {
      const found = asObject(nextPaths[path])[method]
      const at = `${method.toUpperCase()} ${path}`
      return found === undefined ? [`${at} is gone`] : breaksOfOperation(asObject(operation), asObject(found), at)
    }),
  )
  const schemasOf = (document: unknown) => asObject(asObject(asObject(document).components).schemas)
  const [oldSchemas, nextSchemas] = [schemasOf(old), schemasOf(next)]
  const ofSchemas = Object.entries(oldSchemas).flatMap(([name, schema]) =>
    name in nextSchemas ? breaksOfAnswer(asObject(schema), asObject(nextSchemas[name]), name) : [`${name} is gone`],
  )
  return [...ofPaths, ...ofSchemas]
}

function breaksOfOperation(old: Json, next: Json, at: string): string[] {
  const nameOf = (parameter: unknown) => String(asObject(parameter).name)
  const known = new Map(asList(old.parameters).map((each) => [nameOf(each), asObject(each)]))
  const given = new Map(asList(next.parameters).map((each) => [nameOf(each), asObject(each)]))
  const lost = [...known.keys()].filter((name) => !given.has(name)).map((name) => `${at}: "${name}" is gone`)
  const needed = [...given]
    .filter(([name, { required }]) => required === true && known.get(name)?.required !== true)
    .map(([name]) => `${at}: "${name}" is newly required`)
  const schemaOf = (part: unknown) => asObject(asObject(asObject(asObject(part).content)['application/json']).schema)
  const answer = (operation: Json) => schemaOf(asObject(operation.responses)['200'])
  return [
    ...(old.operationId === next.operationId ? [] : [`${at}: its operationId has changed`]),
    ...(old.description === next.description ? [] : [`${at}: its role or audit has changed`]),
    ...lost,
    ...needed,
    ...breaksOfBody(schemaOf(old.requestBody), schemaOf(next.requestBody), `${at} body`),
    ...breaksOfAnswer(answer(old), answer(next), `${at} answer`),
  ]
}

/** A client reads what was promised: nothing may go, or change its type. */
function breaksOfAnswer(old: Json, next: Json, at: string): string[] {
  const required = asList(next.required)
  const properties = Object.entries(asObject(old.properties)).flatMap(([name, schema]) => {
    const found = asObject(next.properties)[name]
    return found === undefined
      ? [`${at}.${name} is gone`]
      : breaksOfAnswer(asObject(schema), asObject(found), `${at}.${name}`)
  })
  const items = old.items === undefined ? [] : breaksOfAnswer(asObject(old.items), asObject(next.items), `${at}[]`)
  return [
    ...breaksOfType(old, next, at),
    ...properties,
    ...items,
    ...asList(old.required).flatMap((name) => (required.includes(name) ? [] : [`${at}.${name} may be missing now`])),
  ]
}

/** A client sends what was asked for: nothing more may be needed, and nothing be refused. */
function breaksOfBody(old: Json, next: Json, at: string): string[] {
  const before = asList(old.required)
  const needed = asList(next.required).filter((name) => !before.includes(name))
  const properties = Object.entries(asObject(old.properties)).flatMap(([name, schema]) => {
    const found = asObject(next.properties)[name]
    if (found === undefined) return [`${at}.${name} is refused now`]
    return breaksOfBody(asObject(schema), asObject(found), `${at}.${name}`)
  })
  const words = asList(next.enum)
  const lost = next.enum === undefined ? [] : asList(old.enum).filter((word) => !words.includes(word))
  return [
    ...breaksOfType(old, next, at),
    ...properties,
    ...needed.map((name) => `${at}.${name} is newly required`),
    ...lost.map((word) => `${at} takes "${word}" no more`),
  ]
}

function breaksOfType(old: Json, next: Json, at: string): string[] {
  const kinds = ({ type, $ref, const: only, anyOf }: Json) =>
    JSON.stringify([type, $ref, only, asList(anyOf).map((each) => [asObject(each).type, asObject(each).$ref])])
  return Object.keys(old).length > 0 && kinds(old) !== kinds(next) ? [`${at} has another type`] : []
}
