/**
 * Lint rules for what runs in Temporal's sandbox, where the same code must do the same on every
 * replay: `workflows/` and the room of `core/` whose values they may import.
 * @module
 */

const REPLAYED = /^(?!.*[\\/]tests[\\/]).*[\\/](workflows|core[\\/]plan)[\\/]/;
const FOREIGN = /^(node|npm|jsr|https?):/;
const EFFECTS = /(^|\/)(activities|adapters)\//;
/** Methods that read the host's clock, locale or time zone when they get no argument. */
const AMBIENT =
  /^(format|formatToParts|toLocaleString|toLocaleDateString|toLocaleTimeString|resolvedOptions)$/;

type Rule = Deno.lint.Rule;

function rule(visit: (context: Deno.lint.RuleContext) => Deno.lint.LintVisitor): Rule {
  return { create: (context) => REPLAYED.test(context.filename) ? visit(context) : {} };
}

const nativeTemporal = rule((context) => ({
  Identifier(node) {
    if (node.name !== "Temporal") return;
    context.report({
      node,
      message: "The native Temporal reads the real clock inside workflows",
      hint: "Use Date, which the sandbox replaces, or pass the time in",
    });
  },
}));

const ambientIntl = rule((context) => {
  const check = (node: Deno.lint.CallExpression | Deno.lint.NewExpression) => {
    const { callee } = node;
    if (node.arguments.length > 0 || callee.type !== "MemberExpression") return;
    const method = callee.property.type === "Identifier" ? callee.property.name : "";
    const intl = callee.object.type === "Identifier" && callee.object.name === "Intl";
    if (!intl && !AMBIENT.test(method)) return;
    context.report({
      node,
      message: `${
        intl ? "Intl." : ""
      }${method}() without arguments depends on the host or its clock`,
      hint: "Name the locale and the time zone, and pass the value to format",
    });
  };
  return { CallExpression: check, NewExpression: check };
});

const foreignSpecifier = rule((context) => {
  const check = (
    node:
      | Deno.lint.ImportDeclaration
      | Deno.lint.ExportNamedDeclaration
      | Deno.lint.ExportAllDeclaration
      | Deno.lint.ImportExpression,
  ) => {
    const { source } = node;
    if (source?.type !== "Literal" || !FOREIGN.test(String(source.value))) return;
    context.report({
      node,
      message: `The workflow bundler cannot resolve "${source.value}"`,
      hint: "Import by relative path ending in .ts, or by bare package name",
    });
  };
  return {
    ImportDeclaration: check,
    ExportNamedDeclaration: check,
    ExportAllDeclaration: check,
    ImportExpression: check,
  };
});

const effectValue = rule((context) => {
  const report = (node: Deno.lint.Node, source: string) =>
    context.report({
      node,
      message: `A workflow imports a value of "${source}"`,
      hint: "Import its type, and call it through proxyActivities",
    });
  return {
    ImportDeclaration(node) {
      if (!EFFECTS.test(node.source.value) || node.importKind === "type") return;
      const typesOnly = node.specifiers.length > 0 &&
        node.specifiers.every((it) => it.type === "ImportSpecifier" && it.importKind === "type");
      if (!typesOnly) report(node, node.source.value);
    },
    ExportNamedDeclaration(node) {
      const source = node.source?.value;
      if (source && EFFECTS.test(source) && node.exportKind !== "type") report(node, source);
    },
    ExportAllDeclaration(node) {
      const source = node.source.value;
      if (EFFECTS.test(source) && node.exportKind !== "type") report(node, source);
    },
  };
});

const plugin: Deno.lint.Plugin = {
  name: "workflow",
  rules: {
    "no-native-temporal": nativeTemporal,
    "no-ambient-intl": ambientIntl,
    "no-foreign-specifier": foreignSpecifier,
    "no-effect-value": effectValue,
  },
};

export default plugin; // the linter asks for a default export
