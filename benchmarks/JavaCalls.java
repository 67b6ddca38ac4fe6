// Every call in the Java sources of a folder that javac resolves to a method of the folder, one JSON object a line:
//     java benchmarks/JavaCalls.java FOLDER > CALLS.jsonl
// What needs a library that is not there stays unresolved; all else is attributed as in a build.

import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.nio.file.*;
import java.util.*;
import java.util.stream.Collectors;
import javax.lang.model.element.*;
import javax.tools.*;

public class JavaCalls {
  private static Path root;

  public static void main(String[] arguments) throws Exception {
    root = Path.of(arguments[0]).toRealPath();
    List<Path> files;
    try (var found = Files.walk(root)) {
      files = found.filter(file -> file.toString().endsWith(".java") && !file.endsWith("module-info.java"))
          .filter(file -> !file.endsWith("package-info.java")).sorted().collect(Collectors.toList());
    }
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (var manager = compiler.getStandardFileManager(null, null, null)) {
      var options = List.of("-proc:none", "-Xmaxerrs", "1");
      var task = (JavacTask) compiler.getTask(null, manager, problem -> {}, options, null, manager.getJavaFileObjectsFromPaths(files));
      List<CompilationUnitTree> units = new ArrayList<>();
      task.parse().forEach(units::add);
      task.analyze();
      for (CompilationUnitTree unit : units) new Scanner(unit, Trees.instance(task)).scan(unit, null);
    }
  }

  private static class Scanner extends TreePathScanner<Void, Void> {
    private final CompilationUnitTree unit;
    private final Trees trees;

    Scanner(CompilationUnitTree unit, Trees trees) {
      this.unit = unit;
      this.trees = trees;
    }

    @Override
    public Void visitMethodInvocation(MethodInvocationTree call, Void nothing) {
      long at = trees.getSourcePositions().getEndPosition(unit, call.getMethodSelect());
      write(trees.getElement(getCurrentPath()), at);
      return super.visitMethodInvocation(call, nothing);
    }

    @Override
    public Void visitNewClass(NewClassTree call, Void nothing) {
      write(trees.getElement(getCurrentPath()), trees.getSourcePositions().getEndPosition(unit, call.getIdentifier()));
      return super.visitNewClass(call, nothing);
    }

    private void write(Element target, long at) {
      if (!(target instanceof ExecutableElement)) return;
      boolean isNew = target.getKind() == ElementKind.CONSTRUCTOR;
      TreePath declared = trees.getPath(isNew ? target.getEnclosingElement() : target);
      if (declared == null || at < 0) return;
      CompilationUnitTree other = declared.getCompilationUnit();
      long start = trees.getSourcePositions().getStartPosition(other, declared.getLeaf());
      long end = trees.getSourcePositions().getEndPosition(other, declared.getLeaf());
      if (start < 0) return;
      LineMap lines = other.getLineMap();
      String name = isNew ? target.getEnclosingElement().getSimpleName().toString() : target.getSimpleName().toString();
      System.out.printf(
          "{\"path\": \"%s\", \"line\": %d, \"to\": \"%s\", \"first\": %d, \"last\": %d, \"name\": \"%s\", \"new\": %b}%n",
          below(unit), unit.getLineMap().getLineNumber(at), below(other), lines.getLineNumber(start), lines.getLineNumber(end), name, isNew);
    }

    private static String below(CompilationUnitTree unit) {
      return root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
    }
  }
}
